// rowlock lead: a command that runs in one place of many, for as long as that place leads.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/command_tree.hpp"
#include "cli/exit_codes.hpp"
#include "cli/exit_timer.hpp"
#include "cli/locked_command.hpp"
#include "cli/loss_reporter.hpp"
#include "cli/say.hpp"
#include "cli/signal_queue.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/leader.hpp"

namespace rowlock::cli {

namespace {

/// Prints faults as `fault_reporter` does, and losses that came too late for the command: it had
/// ended when the release found that the key was gone.
///
/// Thread-safety: all members may be called from any thread.
class term_reporter final : public observer {
 public:
  /// The command of the term has ended; `was_said`: its loss has been printed already.
  void ended(const lease& term, bool was_said) {
    const detail::checked_lock lock{mutex_};
    ended_ = term.token();
    was_said_ = was_said;
    if (lost_ == ended_ && !was_said_) say(lost_too_soon(term.key()));
  }
  /// Whether the term that ended last was lost. Final once the lock_table is gone.
  [[nodiscard]] bool was_lost() const {
    const detail::checked_lock lock{mutex_};
    return ended_ && lost_ == ended_;
  }

  /// See `fault_reporter`.
  void stop_with(std::stop_token stop) { faults_.stop_with(std::move(stop)); }

  void acquired(const acquired_event& /*event*/) override { faults_.acquired(); }
  void renewed(const renewed_event& /*event*/) override { faults_.renewed(); }
  void lost(const lost_event& event) override {
    faults_.ended();
    if (event.reason == loss_reason::no_progress) {
      say(in_words(event.key) + " was lost: " + std::string{no_progress});
    }
    const detail::checked_lock lock{mutex_};
    lost_ = event.token;
    if (lost_ == ended_ && !was_said_) say(lost_too_soon(event.key));
  }
  void released(const released_event& /*event*/) override { faults_.ended(); }
  void fault(const fault_event& event) override { faults_.say_once(event); }

 private:
  fault_reporter faults_;  // used by the observer's thread only
  mutable detail::checked_mutex mutex_;
  std::optional<version> ended_ ROWLOCK_GUARDED_BY(mutex_);
  std::optional<version> lost_ ROWLOCK_GUARDED_BY(mutex_);
  bool was_said_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

/// The terms of one process, and the signals that come before, during and after each.
class leadership {
 public:
  leadership(const locked_command& command, signal_queue& signals, exit_timer& timer,
             term_reporter& reporter)
      : command_{command}, signals_{signals}, timer_{timer}, reporter_{reporter} {
    listen();
  }

  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }

  void lead(const lease& term) {
    if (campaign_->end()) return;
    say(fmt::format("leads {}, term {}", in_words(term.key()), term.token().number));
    await_said(std::chrono::milliseconds{100});  // before the output of the command
    const auto end = command_.run(term, signals_);
    reporter_.ended(term, end.was_notified_of_loss);
    if (end.was_end_requested) {
      last_code_ = end.exit_code;
      timer_.set(end.was_notified_of_loss ? command_.lost_exit_code() : end.exit_code);
      stop_.request_stop();
      return;
    }
    const bool has_failed =
        end.exit_code != exit_code::success && !end.was_asked && !term.lost().stop_requested();
    try {
      listen();
    } catch (const error&) {  // the exit code of a failed command matters more
      if (!has_failed) throw;
    }
    if (has_failed) throw failed_command{end.exit_code};
  }

  /// Called after the lock_table is destroyed: no event comes after that.
  int exit_code() {
    if (last_code_) return reporter_.was_lost() ? command_.lost_exit_code() : *last_code_;
    return exit_code::ended_by_signal(campaign_->end().value_or(0));
  }

 private:
  void listen() { campaign_.emplace(signals_, timer_, stop_); }

  const locked_command& command_;
  signal_queue& signals_;
  exit_timer& timer_;
  term_reporter& reporter_;
  std::stop_source stop_;
  std::optional<interruptible_wait> campaign_;
  std::optional<int> last_code_;
};

int lead_now(const locked_command_options& options, const std::vector<std::string>& arguments) {
  const locked_command to_run{options, arguments};
  const auto url = options.where.database();
  auto locking = to_run.locking();
  const auto reporter = std::make_shared<term_reporter>();
  locking.observer = reporter;

  signal_queue signals{options.process_group};
  say_in_background();
  exit_timer timer{no_answer(options)};
  leadership ours{to_run, signals, timer, *reporter};
  reporter->stop_with(ours.stop());
  const auto rows = options.where.open(url);
  try {
    lock_table locks{*rows, locking};
    leader_options campaign;
    // Its file may still have the password of before.
    campaign.pauses.through_refused_logins = options.where.may_change();
    run_while_leader(
        locks, options.which.key, ours.stop(),
        [&](const lease& term, const std::stop_token&) { ours.lead(term); }, campaign);
  } catch (const failed_command& failed) {
    return reporter->was_lost() ? to_run.lost_exit_code() : failed.exit_code;
  }
  return ours.exit_code();
}

constexpr auto help_of_leading =
    R"(For a service that runs in several places and works in one: waits until it acquires the key, runs the
command, and releases the key when it has ended, so that the next place leads at once. After a loss the
command gets SIGTERM, and SIGKILL after the grace time. Then, and after a command that ended with 0, it waits
for the key again. A command that fails ends it: the supervisor of this process decides what follows.

When the key is asked for (rowlock release --ask), the command gets SIGTERM, once, and its end is the end of
the term; two seconds later this place waits for the key again, so that another leads if one waits.

SIGINT, SIGTERM and SIGQUIT end it: they are passed on to the command, and its end is the end. SIGHUP is
passed on only; without a command it ends the wait. A database that does not answer delays that end by two
seconds; then what is held frees itself within the ttl. While the database is unavailable it goes on trying,
and says so. With --url-file, unless that is a pipe, it does so while the login is refused, too, and reads the
file again each time: with a wrong password it never ends by itself, so correct the file. rowlock show prints
the present leader. --process-group, --durable-release and --progress-within are those of run.

A stopped process renews nothing: if this program alone is stopped (SIGSTOP, a debugger), the next place leads
after the ttl, while the command here goes on until this program does. Stop the command first, and have what
it writes to refuse an older ROWLOCK_TOKEN.

Exit codes: that of the command, 128 + n if signal n ended it or the wait, or
   64  wrong usage
   69  the database refused the request, or the system starts no process or thread: the
       message says what to do
   76  the key was lost during the term that a signal or a failed command ended: others may have led at
       the same time; --lost-exit-code gives another code
  126  the command was found, and cannot be run
  127  the command was not found

Environment:
  ROWLOCK_TYPE, ROWLOCK_SOURCE  set for the command: the key
  ROWLOCK_TOKEN                 set for the command: the number of the term, greater than that of every
                                leader before

Example:
  rowlock lead postgresql://app@db/shop --type service --source cleaner --ttl 10s -- /usr/bin/cleaner)";

}  // namespace

void add_lead(CLI::App& app, const std::vector<std::string>& command, action& chosen) {
  const auto options = std::make_shared<locked_command_options>();
  CLI::App* lead = app.add_subcommand("lead", "Run a command in one place of many, while it leads");
  options->add_to(*lead);
  options->on_ask = "TERM";
  lead->footer(help_of_leading);
  lead->callback([options, &command, &chosen] {
    chosen = [options, &command] { return lead_now(*options, command); };
  });
}

}  // namespace rowlock::cli
