// The public calls of a store: checks and splitting common to all stores.
#include "rowlock/port/store.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <iterator>
#include <string>

#include "rowlock/error.hpp"

namespace rowlock {

namespace {

enum class part_is { change, read };

/// Throws the fault of a later part. The earlier parts have taken effect, so `unavailable` becomes
/// `outcome_unknown`.
[[noreturn]] void throw_after_others(const error& fault) {
  if (fault.kind() != errc::unavailable) throw;
  std::throw_with_nested(error{errc::outcome_unknown,
                               std::string{"a part of the call is done, then: "} + fault.what()});
}

/// Calls `work` with at most `longest` requests at a time, and returns all answers in order.
template <class Request, class Work>
auto in_parts(std::span<const Request> requests, std::size_t longest, part_is kind,
              const Work& work) {
  if (requests.empty()) return decltype(work(requests)){};
  if (requests.size() <= longest) return work(requests);
  decltype(work(requests)) answers;
  answers.reserve(requests.size());
  for (std::size_t at = 0; at < requests.size(); at += longest) {
    try {
      auto some = work(requests.subspan(at, std::min(longest, requests.size() - at)));
      std::move(some.begin(), some.end(), std::back_inserter(answers));
    } catch (const error& fault) {
      if (kind == part_is::read || at == 0) throw;
      throw_after_others(fault);
    }
  }
  return answers;
}

/// As many as a person reads.

template <class Request>
void check_each(std::span<const Request> requests) {
  for (const auto& request : requests) check(request);
}

bool is_granted(const acquire_answer& answer) { return answer.status == acquire_status::granted; }

/// The releases of what was granted.
std::vector<release_request> to_give_back(std::span<const acquire_request> requests,
                                          const std::vector<acquire_answer>& answers) {
  std::vector<release_request> releases;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!is_granted(answers[i])) continue;
    releases.push_back({requests[i].key, requests[i].owner, answers[i].version.value()});
  }
  return releases;
}

}  // namespace

std::vector<acquire_answer> store::acquire(std::span<const acquire_request> requests,
                                           acquire_mode mode) {
  home().require();
  if (mode.how == acquire_mode::each) {
    check_each(requests);
    return in_parts(requests, limits().longest_call, part_is::change,
                    [&](auto some) { return do_acquire(some, mode); });
  }
  check_set(requests);
  if (requests.empty() || (mode.how == acquire_mode::any && mode.limit == 0)) {
    return std::vector<acquire_answer>(requests.size(), {.status = acquire_status::withheld});
  }
  auto answers = do_acquire(requests, mode);
  if (mode.how == acquire_mode::any) return answers;
  // A callback of all keys must not run with some of them, whatever a database did.
  const auto granted = std::count_if(answers.begin(), answers.end(), is_granted);
  if (granted == 0 || granted == std::ssize(requests)) return answers;
  const auto released = do_release(to_give_back(requests, answers));
  const bool are_free = std::ranges::all_of(
      released, [](change_answer answer) { return answer == change_answer::done; });
  throw error{errc::rejected,
              "of " + std::to_string(requests.size()) + " keys that belong together only " +
                  std::to_string(granted) + " were granted, and " +
                  (are_free ? "have been released" : "those not yet released run out") +
                  ": compare the lock table and its triggers with the migrations of rowlock"};
}

std::vector<change_answer> store::renew(std::span<const renew_request> requests) {
  home().require();
  check_each(requests);
  return in_parts(requests, limits().longest_renewal, part_is::change,
                  [&](auto some) { return do_renew(some); });
}

std::vector<change_answer> store::release(std::span<const release_request> requests) {
  home().require();
  check_each(requests);
  return in_parts(requests, limits().longest_call, part_is::change,
                  [&](auto some) { return do_release(some); });
}

handoff_answer store::do_handoff(const handoff_request& request) {
  handoff_answer answer{.ended = do_release(std::array{request.ended}).front()};
  if (answer.ended != change_answer::done) return answer;
  const auto next = do_acquire(std::array{request.next}, {}).front();
  if (next.status == acquire_status::granted) answer.granted = next.version;
  return answer;
}

std::vector<std::optional<row_state>> store::read(std::span<const lock_key> keys, read_mode mode) {
  home().require();
  check_each(keys);
  const auto kind = mode == read_mode::ready_to_commit ? part_is::change : part_is::read;
  return in_parts(keys, limits().longest_call, kind,
                  [&](auto some) { return do_read(some, mode); });
}

}  // namespace rowlock
