// Leader election by repeated campaigns for a key.
#include "rowlock/leader.hpp"

#include <array>
#include <memory>
#include <utility>

#include "base/threads.hpp"
#include "lease/lease_keeper.hpp"
#include "rowlock/error.hpp"
#include "rowlock/retry.hpp"

namespace rowlock {

namespace detail {

/// Shares the ownership of the keeper, so that the end of the `lock_table` stops the campaign
/// instead of leaving it with a dangling reference.
class campaign {
 public:
  campaign(const lock_table& locks, lock_key key, std::stop_token stop,
           const leader_callback& callback, const leader_options& options)
      : keeper_{locks.keeper_},
        locks_{keeper_, locks.scope_},
        key_{std::move(key)},
        callback_{callback},
        stop_{std::move(stop), keeper_->closing()},
        pauses_{with(options.pauses, stop_.token())},
        wanted_{.wait = pauses_,
                .ttl = options.ttl,
                .renew_for = options.renew_for,
                .lock_delay = options.lock_delay} {}

  void run() {
    std::optional<backoff> between;
    do {
      lead_once();
      if (was_asked_)
        time()->sleep_until(keeper_->now() + 2 * pauses_.longest_pause, stop_.token());
      if (!between || term_ > pauses_.longest_pause) between.emplace(pauses_, time());
    } while (between->pause() == backoff::verdict::again);
  }

 private:
  static retry_policy with(retry_policy pauses, std::stop_token stop) {
    pauses.stop = std::move(stop);
    return pauses;
  }

  [[nodiscard]] const std::shared_ptr<time_source>& time() const { return keeper_->options().time; }

  void lead_once() {
    bool has_led = false;
    was_asked_ = false;
    term_ = {};
    try {
      // Without a grant, a stop was requested; the pause detects it.
      static_cast<void>(locks_.with_lock(
          key_,
          [&](const lease& held) {
            // The stop may have come with the grant; the callback must not begin then.
            if (stop_.token().stop_requested()) return;
            has_led = true;
            const auto began = keeper_->now();
            const either_stop ended{held.lost(), stop_.token()};
            const either_stop over{ended.token(), held.wanted()};
            try {
              callback_(held, over.token());
            } catch (const lease_lost&) {
              // A fence found the loss before the lease did, which ends the term.
            }
            term_ = keeper_->now() - began;
            was_asked_ = held.asked().has_value();
          },
          wanted_));
    } catch (const error& fault) {
      const bool will_pass =
          fault.kind() == errc::unavailable || fault.kind() == errc::outcome_unknown;
      if (has_led || !will_pass) throw;
    }
  }

  const std::shared_ptr<lease_keeper> keeper_;
  lock_table locks_;
  const lock_key key_;
  const leader_callback& callback_;
  const either_stop stop_;
  const retry_policy pauses_;
  const acquire_options wanted_;
  boot_clock::duration term_{};  // length of the last term
  bool was_asked_ = false;       // to yield in it
};

}  // namespace detail

void run_while_leader(lock_table& locks, const lock_key& key, const std::stop_token& stop,
                      const leader_callback& callback, const leader_options& options) {
  const auto& pauses = options.pauses;
  if (pauses.attempts || pauses.give_up_after || pauses.stop.stop_possible()) {
    throw error{errc::misuse,
                "the pauses of a campaign have limits or a stop of their own: leave them out, and "
                "request the stop of the campaign instead"};
  }
  detail::campaign{locks, key, stop, callback, options}.run();
}

std::optional<leader> leader_of(store& rows, const lock_key& key) {
  auto row = rows.read(std::array{key}).front();
  if (!row || !row->owned || !row->is_live()) return std::nullopt;
  return leader{.holder = std::move(row->holder),
                .term = row->version,
                .since = std::move(row->acquired_at),
                .remaining = *row->remaining};
}

}  // namespace rowlock
