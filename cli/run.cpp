// rowlock run: a command that runs only while it has the key.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/command_tree.hpp"
#include "cli/duration.hpp"
#include "cli/exit_codes.hpp"
#include "cli/exit_timer.hpp"
#include "cli/locked_command.hpp"
#include "cli/loss_reporter.hpp"
#include "cli/private_file.hpp"
#include "cli/say.hpp"
#include "cli/signal_queue.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::cli {

namespace {

using namespace std::chrono_literals;

struct run_options {
  locked_command_options locked;
  std::string wait = "0s";
  std::string conflict_exit_code = "75";
  std::optional<std::string> once_for;
  std::optional<std::string> once_key;
  std::optional<std::string> pass_to;
  std::optional<std::string> taken_from;
};

/// The text of the lease that the file passes on. Throws `error` (misuse), also for another key.
std::string passed_in(const std::string& path, const lock_key& wanted) {
  auto text = private_line_of("--taken-from", path, "passed lease");
  if (const auto passed = key_of_passed(text); passed != wanted) {
    throw misuse("--taken-from {} passes on {}, not {}: give the key that was passed on", path,
                 in_words(passed), in_words(wanted));
  }
  return text;
}

/// Writes the lease, renewed for a whole ttl if the database answers, for another process.
void pass_on(const lease& held, std::chrono::milliseconds ttl, private_file& to) {
  try {
    static_cast<void>(held.extend(ttl));
  } catch (const error&) {  // was printed; less time is left
  }
  const auto text = held.pass_on();
  try {
    to.write(text);
  } catch (const command_error& failure) {
    throw command_error{failure.exit_code(), std::string{failure.what()} + "; " +
                                                 in_words(held.key()) +
                                                 " frees itself when the ttl is over"};
  }
}

/// How the command gets its lease, and what becomes of it.
class way_to_the_key {
 public:
  /// Reads the options that `run` adds. Throws `error` (misuse).
  way_to_the_key(const run_options& options, const lock_key& key) : key_{key} {
    if (options.once_for) keep_for_ = parse_duration("--once-for", *options.once_for);
    if (options.taken_from) taken_ = passed_in(*options.taken_from, key);
    if (options.pass_to) passing_.emplace("--pass-to", *options.pass_to);
  }

  template <class Callback>
  outcome<int> run(lock_table& locks, const Callback& callback, const acquire_options& wanted) {
    if (taken_) return locks.with_lock_taken_over(*taken_, callback, wanted);
    if (keep_for_) {
      return locks.with_lock_once(key_, callback, {.keep_for = *keep_for_, .acquire = wanted});
    }
    return locks.with_lock(key_, callback, wanted);
  }

  /// The command has succeeded. Throws `lease_lost` and `command_error`.
  void succeeded(const lease& held, std::chrono::milliseconds ttl) {
    if (passing_) pass_on(held, ttl, *passing_);
  }

  [[nodiscard]] bool passes_on() const noexcept { return passing_.has_value(); }

 private:
  const lock_key& key_;
  std::optional<std::chrono::milliseconds> keep_for_;
  std::optional<std::string> taken_;
  std::optional<private_file> passing_;
};

wait_policy parse_wait(const std::string& wait) {
  return wait == "forever" ? wait_forever()
                           : wait_for(parse_duration("--wait", wait, ", or forever"));
}

/// After a loss nothing is left to be sent, but a thread may still wait for a silent database: it
/// ends with the process.
[[noreturn]] void end_without(const lock_key& key, loss_reporter& why, int exit_code) {
  why.await_reason();
  say(lost_too_soon(key));
  end_process(exit_code);
}

/// The exit code of the command, unless its lock turned out not to have lasted until its end.
int final_exit_code(release_witness::release_seen end, int of_command, int if_lost,
                    const locked_command_options& options) {
  using release_seen = release_witness::release_seen;
  if (end == release_seen::none || end == release_seen::lost) {
    say(lost_too_soon(options.which.key));
    return if_lost;
  }
  if (end == release_seen::uncertain) {
    say(options.which.in_words() + " could not be released yet; it frees itself within " +
        options.ttl);
  }
  return of_command;
}

/// Prints why the command did not run.
int exit_code_of(const refusal& refused, int if_refused, const run_options& options) {
  std::string next;
  if (refused.reason == refusal_reason::busy) next = "; `rowlock show` says what is known of it";
  if (refused.reason == refusal_reason::stale && options.taken_from) {
    next = ": the lease in " + *options.taken_from + " ran out, was taken over or taken away";
  }
  say(in_words(refused) + next);
  return refused.reason == refusal_reason::already_done ? exit_code::success : if_refused;
}

locked_command_options locked_once(const run_options& options) {
  auto locked = options.locked;
  auto& source = locked.which.key.source_id;
  if (options.once_key) source = source_id_of({source, *options.once_key});
  return locked;
}

int run_now(const run_options& options, const std::vector<std::string>& arguments) {
  const auto locked = locked_once(options);
  const auto& key = locked.which.key;
  const locked_command to_run{locked, arguments};
  const auto url = locked.where.database();
  const int if_refused = exit_code::parse("--conflict-exit-code", options.conflict_exit_code);
  way_to_the_key way{options, key};
  acquire_options for_this{.wait = parse_wait(options.wait)};
  // Its file may still have the password of before.
  for_this.wait.through_refused_logins = locked.where.may_change();

  signal_queue signals{locked.process_group};
  say_in_background();
  exit_timer timer{no_answer(locked)};
  if (const auto limit = for_this.wait.give_up_after; limit && *limit > 0ms) {
    timer.set(exit_code::unavailable, *limit + 2 * exit_timer::grace);
  }
  interruptible_wait waiting{signals, timer};
  std::optional<interruptible_wait> releasing;
  for_this.wait.stop = waiting.stop();
  const auto rows = locked.where.open(url);
  release_witness witnessed{*rows};
  const bool waits = for_this.wait.give_up_after.value_or(1ms) > 0ms;
  const auto why_lost =
      std::make_shared<loss_reporter>(witnessed, to_run.locking().renew_for, waits, waiting.stop());
  auto locking = to_run.locking();
  locking.observer = why_lost;
  const auto run_under = [&](const lease& held) {
    why_lost->look_back(held);
    if (const auto number = waiting.end()) return exit_code::ended_by_signal(*number);
    timer.clear();
    const auto [code, was_end_requested, was_notified_of_loss, was_asked] =
        to_run.run(held, signals);
    if (!held.is_valid()) end_without(key, *why_lost, to_run.lost_exit_code());
    if (was_end_requested) timer.set(code);
    try {
      releasing.emplace(signals, timer, std::stop_source{}, code);
    } catch (const error&) {  // no thread for signals: limit the release as after a signal
      timer.set(code);
    }
    if (code != exit_code::success) throw failed_command{code};
    way.succeeded(held, locking.ttl);
    return code;
  };

  int code = exit_code::success;
  try {
    lock_table locks{witnessed, locking};
    const auto ran = way.run(locks, run_under, for_this);
    if (!ran.acquired()) {
      if (const auto number = waiting.end()) return exit_code::ended_by_signal(*number);
      const int refused = exit_code_of(ran.refusal(), if_refused, options);
      timer.set(refused);
      return refused;
    }
    code = *ran;
    if (way.passes_on()) return code;
  } catch (const failed_command& failed) {
    code = failed.exit_code;
  }
  // The lock_table is destroyed: a deferred release has had its time.
  return final_exit_code(witnessed.seen(), code, to_run.lost_exit_code(), locked);
}

constexpr auto help_of_running =
    R"(The command runs only if the key was acquired. The lease is renewed until the command ends, or until
--at-most is over: then it runs out, and the command is stopped as after any loss. SIGINT, SIGTERM, SIGHUP
and SIGQUIT are passed on to the command.

Signals reach the command, not what it starts: in a shell script, exec the program that does the work, or
use --process-group. Then the command has a session and a process group of its own. Signals go to all of the
group, and the key is kept until all of it has ended: what the command leaves behind gets SIGTERM, and
SIGKILL after the grace time. Ctrl-C and Ctrl-Z of a terminal work as before, and the command can read from
it, but has no /dev/tty. What moves to another group (a daemon, an interactive shell's jobs) is not reached;
nor is what the command starts if this program itself gets SIGKILL: then the command alone gets SIGTERM.

A stopped process renews nothing: if this program alone is stopped (SIGSTOP, a debugger), others get the key
after the ttl, while the command goes on until this program does. Stop the command first, and have what it
writes to refuse an older ROWLOCK_TOKEN.

When the command has ended, the key is free at once. On PostgreSQL and SQLite a crash of the server, or of the
machine, in the next moment may undo that: then it is free when the ttl is over. --durable-release prevents
that; it costs a flush of the disk.

A database that does not answer keeps no signal from working: two seconds later the process ends, and
what it may hold frees itself within the ttl. It ends four seconds after the limit of --wait, too, with 69.

Without --wait there is one attempt. With it, attempts also go on while the database is away (a restart, a
failover), until the time is over: then the exit code is 69 or 70. With --url-file they go on while the login
is refused, too: the file, unless it is a pipe, is read again each time, as its password may have been
changed. Meanwhile, and of a renewal or release that fails, each fault is printed once. Durations: 500ms, 30s,
5m, 2h, 1d.

--once-for is for a job that several machines start: the first that gets the key runs it, and while the row
remembers its success, others say so and end with 0. If the command fails or its machine dies, nothing is
remembered: the next start runs it. With --once-key each day, for instance, is a run of its own, which no
clock that is early skips; runs with different keys do not exclude each other.

With --progress-within a command that hangs loses its key after that time and a ttl: what it writes to its
standard output and error counts as progress, or with --progress-file the changes of that file, and
WATCHDOG=1 where the command speaks to systemd (sd_notify). Its output then goes through a pipe.

With --on-ask the command gets that signal, once, when rowlock release --ask or a waiter asks for the key; a
message says who asked and why. Nothing else follows: the command decides when it ends.

--pass-to hands the key to another process without a gap: the file, mode 0600, appears when the command has
succeeded, and a run with --taken-from gets the key from it, with a greater token; once, and within the ttl,
after which the key is free. Both name the same key. A failed command releases it, and writes nothing.

Exit codes: that of the command, 128 + n if signal n ended it or the wait, or
   64  wrong usage
   69  the database is unavailable, or refused the request, or the system starts no process or
       thread: the message says what to do
   70  it is not known what happened: the connection broke at the wrong moment
   75  not acquired: the message names the holder; -E gives another code
   76  the key was lost while the command ran; it got SIGTERM, and SIGKILL after the grace time;
       a message says why; --lost-exit-code gives another code
  126  the command was found, and cannot be run
  127  the command was not found

Environment:
  ROWLOCK_TYPE, ROWLOCK_SOURCE  set for the command: the key
  ROWLOCK_TOKEN                 set for the command: a number greater than that of every holder before;
                                systems outside the database can use it to refuse latecomers

Examples:
  rowlock run sqlite:///var/lib/shop/locks.db --type cron --source nightly -- /usr/bin/sync-invoices
  rowlock run postgresql://app@db/shop --type invoice --source 42 --wait 1m -- sh -c 'exec pay 42')";

}  // namespace

void add_run(CLI::App& app, const std::vector<std::string>& command, action& chosen) {
  const auto options = std::make_shared<run_options>();
  CLI::App* run = app.add_subcommand("run", "Run a command only while holding a key");
  options->locked.add_to(*run);
  CLI::Option* const wait = add_value(*run, "--wait DURATION", options->wait,
                                      "How long to wait for the key and the database, or: forever");
  add_value(*run, "-E,--conflict-exit-code CODE", options->conflict_exit_code,
            "The exit code when the key was not acquired");
  CLI::Option* const once =
      add_value(*run, "--once-for DURATION", options->once_for,
                "Once the command has succeeded, run it for nobody for this long");
  add_value(*run, "--once-key KEY", options->once_key,
            "Which run this is, such as a date: once for each; it is added to the source")
      ->needs(once);
  add_value(
      *run, "--on-ask SIGNAL", options->locked.on_ask,
      "Send the command this signal when the key is asked for: TERM, INT, HUP, QUIT, USR1, USR2");
  add_value(*run, "--pass-to FILE", options->pass_to,
            "After a success do not release the key, but write what --taken-from needs")
      ->excludes(once);
  add_value(*run, "--taken-from FILE", options->taken_from,
            "Run with the key that a run with --pass-to FILE has passed on")
      ->excludes(once)
      ->excludes(wait);
  run->footer(help_of_running);
  run->callback([options, &command, &chosen] {
    chosen = [options, &command] { return run_now(*options, command); };
  });
}

}  // namespace rowlock::cli
