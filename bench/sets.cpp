// What sets of keys cost, through the store port.
#include "sets.hpp"

#include <algorithm>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "port.hpp"

namespace rowlock::bench {

namespace {

constexpr std::size_t rows = 10'000;
constexpr std::size_t candidates = 1000;

lock_key key_of(std::size_t number) { return {.type = "set", .source_id = std::to_string(number)}; }

/// The requests of one attempt.
std::vector<acquire_request> requests_for(std::span<const lock_key> keys) {
  const auto attempt = make_owner_id();
  std::vector<acquire_request> requests;
  requests.reserve(keys.size());
  for (const auto& key : keys) {
    auto& request = requests.emplace_back(request_for(key));
    request.owner = attempt;
  }
  return requests;
}

/// Throws unless `expected` of the requests are granted.
void release_granted(store& locks, std::span<const acquire_request> requests,
                     std::span<const acquire_answer> answers, std::size_t expected) {
  std::vector<release_request> releases;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (answers[i].status != acquire_status::granted) continue;
    releases.push_back({requests[i].key, requests[i].owner, answers[i].version.value()});
  }
  if (releases.size() != expected) throw std::runtime_error{"not as many granted as expected"};
  for (const auto answer : locks.release(releases)) {
    if (answer != change_answer::done) throw std::runtime_error{"not released"};
  }
}

std::vector<lock_key> create_rows(store& locks, std::size_t count) {
  std::vector<lock_key> keys;
  keys.reserve(count);
  for (std::size_t i = 0; i < count; ++i) keys.push_back(key_of(i));
  locks.read(keys, read_mode::ready_to_commit);
  return keys;
}

/// `acquire(requests)` for keys that `choose` answers.
template <class Choose, class Acquire>
void measure(benchmark::State& state, store& locks, std::size_t expected, const Choose& choose,
             const Acquire& acquire) {
  for (auto _ : state) {
    state.PauseTiming();
    const auto requests = requests_for(choose());
    state.ResumeTiming();
    const auto answers = acquire(requests);
    state.PauseTiming();
    release_granted(locks, requests, answers, expected);
    state.ResumeTiming();
  }
}

}  // namespace

void acquire_any(benchmark::State& state, store& locks) {
  auto keys = create_rows(locks, rows);
  std::mt19937 random{4711};  // NOLINT(cert-msc51-cpp): the same choices in every run
  measure(
      state, locks, any_at_most,
      [&] {
        std::shuffle(keys.begin(), keys.end(), random);
        return std::span<const lock_key>{keys}.first(candidates);
      },
      [&](const auto& requests) {
        return locks.acquire(requests, {acquire_mode::any, any_at_most});
      });
}

void acquire_all(benchmark::State& state, store& locks) {
  const auto keys = create_rows(locks, all_keys);
  measure(
      state, locks, all_keys, [&] { return std::span{keys}; },
      [&](const auto& requests) { return locks.acquire(requests, {acquire_mode::all_or_none}); });
}

void acquire_each(benchmark::State& state, store& locks) {
  const auto keys = create_rows(locks, all_keys);
  measure(
      state, locks, all_keys, [&] { return std::span{keys}; },
      [&](const std::vector<acquire_request>& requests) {
        std::vector<acquire_answer> answers;
        for (const auto& request : requests) {
          answers.push_back(locks.acquire({&request, 1}).front());
        }
        return answers;
      });
}

}  // namespace rowlock::bench
