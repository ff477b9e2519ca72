// Acquires leases.
#include "rowlock/lock_table.hpp"

#include <unistd.h>

#include <array>
#include <climits>
#include <exception>
#include <optional>
#include <utility>

#include "core/acquisition.hpp"
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

  auto end = detail::acquire(*keeper_, *here, request, options.wait);
  if (end.fault != nullptr) std::rethrow_exception(end.fault);
  if (end.refused) return *std::move(end.refused);
  return lease{keeper_, std::move(end.granted)};
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
