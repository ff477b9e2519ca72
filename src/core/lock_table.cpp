// Acquires leases.
#include "rowlock/lock_table.hpp"

#include <unistd.h>

#include <array>
#include <climits>
#include <optional>
#include <utility>

#include "core/giving_up.hpp"
#include "core/keeper.hpp"
#include "rowlock/error.hpp"

namespace rowlock {

namespace {

std::string host_and_pid() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return std::string{host.data()}.substr(0, 100) + ':' + std::to_string(getpid());
}

void check_ttl(std::chrono::milliseconds ttl, std::chrono::milliseconds margin) {
  if (ttl <= margin) {
    throw error{errc::misuse,
                "the ttl of " + std::to_string(ttl.count()) + " ms is not above the margin of " +
                    std::to_string(margin.count()) + " ms: raise the ttl or lower the margin"};
  }
}

lock_options checked(lock_options options) {
  if (options.margin < std::chrono::milliseconds::zero()) {
    throw error{errc::misuse, "the margin is negative"};
  }
  if (options.time == nullptr) throw error{errc::misuse, "the time source is null"};
  if (options.holder.empty()) options.holder = host_and_pid();
  check_ttl(options.ttl, options.margin);
  check(acquire_request{.key = {.type = "any", .source_id = "any"},
                        .owner = {},
                        .holder = options.holder,
                        .ttl = options.ttl});
  return options;
}

refusal to_refusal(const lock_key& key, const acquire_answer& answer) {
  refusal refused{.key = key,
                  .holder = answer.holder,
                  .remaining = answer.remaining,
                  .current = answer.version};
  switch (answer.status) {
    case acquire_status::held:
      refused.reason = refusal_reason::held;
      break;
    case acquire_status::stale:
      refused.reason = refusal_reason::stale;
      break;
    default:
      refused.reason = refusal_reason::busy;
  }
  return refused;
}

/// Requested when either of two is.
class either_stop {
 public:
  either_stop(std::stop_token one, std::stop_token other)
      : on_one_{std::move(one), request{&both_}}, on_other_{std::move(other), request{&both_}} {}

  [[nodiscard]] std::stop_token token() const { return both_.get_token(); }

 private:
  struct request {
    std::stop_source* both;
    void operator()() const { both->request_stop(); }
  };

  std::stop_source both_;
  std::stop_callback<request> on_one_;
  std::stop_callback<request> on_other_;
};

/// None: it is still not known whether the attempt was granted.
std::optional<acquire_answer> ask_in_doubt(store& rows, const acquire_request& request) {
  try {
    auto answer = rows.acquire(std::array{request}).front();
    // The statement in doubt may be what makes the row busy.
    if (answer.status != acquire_status::busy) return answer;
  } catch (const error&) {  // the first fault says more
  }
  return std::nullopt;
}

/// Asks again, as the same attempt, when the answer got lost: a grant that was made is recognised.
acquire_answer ask(store& rows, const acquire_request& request) {
  try {
    return rows.acquire(std::array{request}).front();
  } catch (const error& fault) {
    if (fault.kind() != errc::outcome_unknown) throw;
    if (auto answer = ask_in_doubt(rows, request)) return *std::move(answer);
    throw;
  }
}

}  // namespace

lock_table::lock_table(store& rows, lock_options options)
    : keeper_{std::make_shared<detail::keeper>(rows, checked(std::move(options)))} {}

lock_table::~lock_table() { keeper_->close(); }

outcome<lease> lock_table::try_acquire(const lock_key& key, const acquire_options& options) {
  const auto& usual = keeper_->options();
  const acquire_request request{.key = key,
                                .owner = make_owner_id(),
                                .holder = usual.holder,
                                .ttl = options.ttl.value_or(usual.ttl),
                                .expected = options.expected};
  check(request);
  check_ttl(options.ttl.value_or(usual.ttl), usual.margin);
  const auto here = keeper_->enter();
  if (!here) return refusal{.reason = refusal_reason::stopped, .key = key};

  const either_stop stop{options.wait.stop, keeper_->closing()};
  retry_policy wait = options.wait;
  wait.stop = stop.token();
  backoff pauses{std::move(wait), usual.time};
  for (;;) {
    const auto asked = keeper_->now();
    const auto answer = ask(here->rows(), request);
    if (answer.status == acquire_status::granted) {
      if (auto kept = keeper_->keep(request, *answer.version, asked)) {
        return lease{keeper_, std::move(kept)};
      }
      return refusal{.reason = refusal_reason::timed_out, .key = key};
    }
    auto refused = to_refusal(key, answer);
    if (refused.reason == refusal_reason::stale) return refused;
    const auto verdict = pauses.pause(detail::next_chance(refused));
    if (verdict != backoff::verdict::again) {
      return detail::given_up(std::move(refused), verdict, pauses);
    }
  }
}

outcome<version> lock_table::read(const lock_key& key) {
  const auto here = keeper_->enter();
  if (!here) return refusal{.reason = refusal_reason::stopped, .key = key};
  const auto state = here->rows().prepare(std::array{key}).front();
  if (!state) return refusal{.reason = refusal_reason::busy, .key = key};
  if (!state->owned) return state->version;
  return refusal{.reason = state->is_live() ? refusal_reason::held : refusal_reason::busy,
                 .key = key,
                 .holder = state->holder,
                 .remaining = state->remaining,
                 .current = state->version};
}

}  // namespace rowlock
