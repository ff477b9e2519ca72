// Options, start and supervision of a command under a lock, for run and lead.
#include "cli/locked_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/duration.hpp"
#include "cli/exit_codes.hpp"
#include "cli/file_descriptor.hpp"
#include "cli/progress_watch.hpp"
#include "cli/say.hpp"
#include "cli/values.hpp"
#include "rowlock/clock.hpp"

namespace rowlock::cli {

namespace {

/// CLI11 does not parse the command, where it would read brackets as lists, so the usage line names
/// it here.
class command_formatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string /*name*/) const override {
    return "Usage: rowlock " + app->get_name() +
           " [URL] --type TYPE --source SOURCE [OPTIONS] -- COMMAND [ARGUMENT...]\n";
  }
};

/// 0, or the errno that says why the file cannot be run.
int why_not_runnable(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return errno;
  if (S_ISDIR(found.st_mode)) return EISDIR;
  return faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

bool is_absence(int reason) { return reason == ENOENT || reason == ENOTDIR; }

[[noreturn]] void refuse_command(const std::string& name, int reason) {
  if (is_absence(reason)) throw command_error{exit_code::not_found, name + ": command not found"};
  throw command_error{exit_code::not_runnable,
                      name + ": cannot be run: " + std::generic_category().message(reason)};
}

std::string_view search_path() {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): no thread changes it
  return path != nullptr ? path : "/usr/bin:/bin";
}

/// The file that `name` stands for: with a slash in it, itself; otherwise the first executable file
/// of that name in the folders of PATH. Throws `command_error`.
std::string find_command(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const int reason = why_not_runnable(name);
    if (reason != 0) refuse_command(name, reason);
    return name;
  }
  if (name.empty()) throw command_error{exit_code::not_found, "the name of the command is empty"};
  int reason = ENOENT;
  std::string_view folders = search_path();
  for (;;) {
    const auto end = folders.find(':');
    const std::string_view folder = folders.substr(0, end);
    std::string path = (folder.empty() ? "." : std::string{folder}) + '/' + name;
    const int why_not = why_not_runnable(path);
    if (why_not == 0) return path;
    // A file of that name that cannot be run is a better reason than no file. A folder is not.
    if (!is_absence(why_not) && why_not != EISDIR) reason = why_not;
    if (end == std::string_view::npos) refuse_command(name, reason);
    folders.remove_prefix(end + 1);
  }
}

command to_command(const std::vector<std::string>& arguments, bool has_own_group) {
  if (arguments.empty()) {
    throw misuse("no command to run: write it after --, as in ... -- sync-invoices -v");
  }
  return {.path = find_command(arguments.front()),
          .arguments = arguments,
          .environment = {},
          .has_own_group = has_own_group};
}

lock_options to_locking(const locked_command_options& options) {
  lock_options locking{.ttl = parse_duration("--ttl", options.ttl), .holder = options.holder};
  locking.durable_release = options.durable_release;
  if (locking.ttl <= locking.margin) {
    throw misuse(
        "--ttl {} is too short: write more than {}ms, which is how long before its end the key "
        "counts as lost",
        options.ttl, locking.margin.count());
  }
  if (options.renew_for) locking.renew_for = parse_duration("--at-most", *options.renew_for);
  if (locking.renew_for && *locking.renew_for < locking.ttl) {
    throw misuse(
        "--at-most {} is shorter than the lease, which is not ended before its --ttl of {}: write "
        "{} or more, or a shorter --ttl",
        *options.renew_for, options.ttl, options.ttl);
  }
  if (options.progress_within) {
    locking.progress_within = parse_duration("--progress-within", *options.progress_within);
  }
  return locking;
}

/// SIGTERM, and SIGKILL after the grace time, for a command whose lease is lost.
class eviction {
 public:
  eviction(const child_process& evicted, std::chrono::milliseconds grace)
      : evicted_{evicted}, grace_{grace} {}

  [[nodiscard]] bool has_begun() const { return step_ != step::none; }

  void begin(const std::string& sent_because) {
    step_ = step::requested;
    kill_at_ = boot_clock::now() + grace_;
    evicted_.send(SIGTERM);
    say(sent_because + " SIGTERM, SIGKILL follows in " + show_duration(grace_));
  }

  void go_on() {
    if (step_ != step::requested || boot_clock::now() < kill_at_) return;
    step_ = step::forced;
    evicted_.send(SIGKILL);
  }

  /// For poll(): milliseconds until there is something to do, -1 for never.
  [[nodiscard]] int timeout() const {
    if (step_ != step::requested) return -1;
    using std::chrono::milliseconds;
    const auto left = std::chrono::ceil<milliseconds>(kill_at_ - boot_clock::now()).count();
    return static_cast<int>(
        std::clamp<milliseconds::rep>(left, 0, std::numeric_limits<int>::max()));
  }

 private:
  enum class step { none, requested, forced };

  const child_process& evicted_;
  const std::chrono::milliseconds grace_;
  step step_ = step::none;
  boot_clock::time_point kill_at_;
};

std::optional<int> parse_on_ask(const std::optional<std::string>& name) {
  constexpr std::array<std::pair<std::string_view, int>, 6> signals{{{"TERM", SIGTERM},
                                                                     {"INT", SIGINT},
                                                                     {"HUP", SIGHUP},
                                                                     {"QUIT", SIGQUIT},
                                                                     {"USR1", SIGUSR1},
                                                                     {"USR2", SIGUSR2}}};
  if (!name) return std::nullopt;
  for (const auto& [known, number] : signals) {
    if (*name == known || *name == "SIG" + std::string{known}) return number;
  }
  throw misuse("--on-ask is not a signal that it sends: write TERM, INT, HUP, QUIT, USR1 or USR2");
}

bool requests_end(const signalfd_siginfo& came) {
  return came.ssi_signo != SIGCHLD && came.ssi_signo != SIGHUP;
}

/// `web2:4711 asks for invoice/42: deploy; sent the command SIGTERM`
std::string request_in_words(const lease& held, int sent) {
  const auto asked = held.asked().value_or(ask_mark{});
  return asked.by + " asks for " + in_words(held.key()) + ": " + asked.reason +
         "; sent the command SIG" + sigabbrev_np(sent);
}

/// Sends the command a signal, once, when the holder is asked to yield.
class yielding {
 public:
  /// `asked` is raised when the holder is asked; it must outlive this.
  yielding(const lease& held, std::optional<int> number, const wakeup& asked)
      : held_{held},
        number_{number},
        on_request_{number ? held.wanted() : std::stop_token{}, [&asked] { asked.raise(); }} {}

  [[nodiscard]] bool was_asked() const { return was_asked_; }

  /// `event` is that of the wakeup.
  void handle(pollfd& event, const child_process& child) {
    if (event.revents == 0) return;
    event.fd = -1;  // seen: poll() ignores it from now on
    was_asked_ = true;
    say(request_in_words(held_, *number_));
    child.send(*number_);
  }

 private:
  const lease& held_;
  const std::optional<int> number_;
  const std::stop_callback<std::function<void()>> on_request_;
  bool was_asked_ = false;
};

/// True if one of them requests the end. The command stops and continues with this process: a
/// stopped process renews no lease, so its command must not run on.
bool pass_on(signal_queue& signals, const child_process& child) {
  bool is_end_requested = false;
  while (const auto came = signals.next([&](int number) { child.send(number); })) {
    if (requests_end(*came)) is_end_requested = true;
    if (came->ssi_signo == SIGCHLD || child.was_sent_too(*came)) continue;
    child.send(static_cast<int>(came->ssi_signo));
  }
  return is_end_requested;
}

}  // namespace

void locked_command_options::add_to(CLI::App& subcommand) {
  where.add_to(subcommand);
  which.add_to(subcommand);
  add_value(subcommand, "--ttl DURATION", ttl,
            "How long the key stays taken after this process dies");
  add_value(subcommand, "--at-most DURATION", renew_for,
            "Stop renewing after this long, so that a command that hangs loses the key");
  CLI::Option* const progress =
      add_value(subcommand, "--progress-within DURATION", progress_within,
                "Stop renewing when the command has written nothing for this long");
  add_value(subcommand, "--progress-file FILE", progress_file,
            "Changes of this file count as progress, not what the command writes")
      ->needs(progress);
  add_value(subcommand, "--grace DURATION", grace, "From SIGTERM to SIGKILL when the key was lost");
  add_value(subcommand, "--holder LABEL", holder, "A label for people; host:pid if not given");
  add_value(subcommand, "--lost-exit-code CODE", lost_exit_code,
            "The exit code when the key was lost");
  subcommand.add_flag("--durable-release", durable_release,
                      "Have the release wait for the disk, so that no crash undoes it");
  subcommand.add_flag("--process-group", process_group,
                      "Signal and end what the command starts, too");
  subcommand.formatter(std::make_shared<command_formatter>());
}

bool takes_a_command(const CLI::App& subcommand) {
  return dynamic_cast<const command_formatter*>(subcommand.get_formatter().get()) != nullptr;
}

std::string lost_too_soon(const lock_key& key) {
  return in_words(key) + " was lost before the command ended: others may have run at the same time";
}

std::string no_answer(const locked_command_options& options) {
  return "the database does not answer: ended without it; if " + options.which.in_words() +
         " is ours, it frees itself within " + options.ttl;
}

command_end supervise(const lease& held, const command& to_run, signal_queue& signals,
                      std::chrono::milliseconds grace, std::optional<int> on_ask) {
  const wakeup lost;  // before the command: the system may refuse it
  const wakeup asked;
  child_process child{to_run, signals.original_mask()};
  // A signal of the terminal may have come before the process existed, so it did not get it. Later
  // signals reach it too.
  while (const auto came = signals.next()) {
    if (came->ssi_signo != SIGCHLD) {
      return {exit_code::ended_by_signal(static_cast<int>(came->ssi_signo)), true, false};
    }
  }
  // The database, or a reader of messages, may have taken longer than the ttl.
  if (!held.is_valid()) return {exit_code::ended_by_signal(SIGTERM), false, true};
  child.begin();

  const std::stop_callback on_loss{held.lost(), [&lost] { lost.raise(); }};
  yielding yields{held, on_ask, asked};
  eviction evicted{child, grace};
  std::array<pollfd, 3> events{{{signals.descriptor(), POLLIN, 0},
                                {lost.descriptor(), POLLIN, 0},
                                {asked.descriptor(), POLLIN, 0}}};
  bool is_end_requested = false;
  bool was_lost = false;
  for (;;) {
    const auto code = child.ended();
    if (code) {
      if (!child.has_left_others()) return {*code, is_end_requested, was_lost, yields.was_asked()};
      if (!evicted.has_begun()) {
        evicted.begin("the command has ended, but not all that it has started: sent that");
      }
    }
    // No signal reports the end of a process left behind whose parent is in another group.
    constexpr int until_next_look = 100;  // milliseconds
    const int timeout = code ? until_next_look : evicted.timeout();
    if (poll(events.data(), events.size(), timeout) == -1 && errno != EINTR) {
      throw std::system_error{errno, std::generic_category(), "poll"};
    }
    if (pass_on(signals, child)) is_end_requested = true;
    if (events[1].revents != 0) {
      events[1].fd = -1;  // seen: poll() ignores it from now on
      was_lost = true;
      if (!evicted.has_begun()) {
        evicted.begin("lost " + in_words(held.key()) + " while the command was running: sent it");
      }
    }
    yields.handle(events[2], child);
    evicted.go_on();
  }
}

locked_command::locked_command(const locked_command_options& options,
                               const std::vector<std::string>& arguments)
    : command_{to_command(arguments, options.process_group)},
      locking_{to_locking(options)},
      progress_file_{options.progress_file},
      grace_{parse_duration("--grace", options.grace)},
      on_ask_{parse_on_ask(options.on_ask)},
      lost_exit_code_{exit_code::parse("--lost-exit-code", options.lost_exit_code)} {}

command_end locked_command::run(const lease& held, signal_queue& signals) const {
  command started = command_;
  started.environment =
      environment_with({"ROWLOCK_TYPE=" + held.key().type, "ROWLOCK_SOURCE=" + held.key().source_id,
                        "ROWLOCK_TOKEN=" + std::to_string(held.token().number)});
  std::optional<progress_watch> watch;
  if (locking_.progress_within) {
    held.progress();  // the time counts from the command's begin
    watch.emplace(
        progress_options{*locking_.progress_within, progress_file_}, [&held] { held.progress(); },
        started);
  }
  return supervise(held, started, signals, grace_, on_ask_);
}

}  // namespace rowlock::cli
