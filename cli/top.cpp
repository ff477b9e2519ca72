// rowlock top: the held keys, read again and again.
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include "cli/command_tree.hpp"
#include "cli/duration.hpp"
#include "cli/exit_codes.hpp"
#include "cli/fault_text.hpp"
#include "cli/options.hpp"
#include "cli/row_reader.hpp"
#include "cli/say.hpp"
#include "cli/screen.hpp"
#include "cli/signal_queue.hpp"
#include "cli/top_frame.hpp"
#include "cli/values.hpp"
#include "rowlock/clock.hpp"

namespace rowlock::cli {

namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Between two statements, whatever the user does.
constexpr std::chrono::seconds least_interval{1};

struct top_options {
  table_options where;
  list_options which;
  std::string interval = "2s";
  bool is_once = false;
};

milliseconds interval_of(const top_options& options) {
  const auto interval = parse_duration("--interval", options.interval);
  if (interval < least_interval) {
    throw misuse("--interval is below 1s: top reads once a second at most");
  }
  return interval;
}

/// Thread-safety: one thread at a time.
class top_loop {
 public:
  top_loop(signal_queue& signals, row_reader& reader, top_state shown)
      : signals_{signals}, reader_{reader}, shown_{std::move(shown)} {}

  /// Returns the exit code. Throws what the first read throws, unless the database may come back.
  int run() {
    while (!code_) {
      start_if_due();
      draw();
      wait();
    }
    return *code_;
  }

 private:
  using clock = boot_clock;
  using filter = std::optional<std::string> list_request::*;

  void start_if_due() {
    const auto now = clock::now();
    if (reader_.is_running() || now < due_) return;
    reader_.start(shown_.request);
    is_of_request_ = true;
    started_ = now;
    due_ = shown_.is_paused ? clock::time_point::max() : now + shown_.interval;
  }

  /// As soon as another statement may be sent.
  void read_soon() {
    due_ = started_ ? *started_ + least_interval : clock::time_point{};
    is_of_request_ = false;
  }

  void draw() {
    const auto now = clock::now();
    const auto since = [&](clock::time_point then) {
      return duration_cast<microseconds>(now - then);
    };
    shown_.age = read_ ? std::optional{since(*read_)} : std::nullopt;
    shown_.waiting = reader_.is_running() ? std::optional{since(*started_)} : std::nullopt;
    if (prompt_) {
      const bool is_type = typed_for_ == &list_request::type;
      shown_.notice = (is_type ? "type (empty: all): " : "holder (empty: all): ") + prompt_->text();
    }
    screen_.draw(frame_of(shown_, size_of_terminal()), signals_.descriptor());
  }

  /// Until something happens, the next statement is due, or the header has another age to show.
  void wait() {
    constexpr milliseconds tick{1000};
    auto limit = milliseconds::max();
    if (reader_.is_running() || !shown_.fault.empty()) limit = tick;
    if (!reader_.is_running() && due_ != clock::time_point::max()) {
      const auto left = std::chrono::ceil<milliseconds>(due_ - clock::now());
      limit = std::min(limit, std::max(left, milliseconds::zero()));
    }
    std::array<pollfd, 3> events{{{STDIN_FILENO, POLLIN, 0},
                                  {signals_.descriptor(), POLLIN, 0},
                                  {reader_.descriptor(), POLLIN, 0}}};
    poll(events.data(), events.size(),
         limit == milliseconds::max() ? -1 : static_cast<int>(limit.count()));
    if (events[1].revents != 0) take_signals();
    if (events[2].revents != 0) take_answer();
    if (!code_ && events[0].revents != 0) take_keys();
  }

  void take_signals() {
    const auto when_stopped = [this](int number) {
      if (number == SIGSTOP) {
        screen_.leave();
      } else {
        screen_.enter();
      }
    };
    while (const auto came = signals_.next(when_stopped)) {
      const auto number = static_cast<int>(came->ssi_signo);
      if (number == SIGCHLD || number == SIGWINCH) continue;
      if (number == SIGCONT) {
        // A stop that came from elsewhere has left the screen to a shell.
        screen_.enter();
        continue;
      }
      code_ = exit_code::ended_by_signal(number);
    }
  }

  void take_answer() {
    auto answer = reader_.take();
    if (!answer) return;
    if (answer->fault) {
      take_fault(answer->fault);
    } else if (is_of_request_) {
      shown_.rows = std::move(answer->rows);
      shown_.fault.clear();
      read_ = started_;
    }
  }

  void take_fault(const std::exception_ptr& fault) {
    try {
      std::rethrow_exception(fault);
    } catch (const std::exception& thrown) {
      const auto* const refused = dynamic_cast<const error*>(&thrown);
      const bool is_final = refused != nullptr &&
                            (refused->kind() == errc::misuse || refused->kind() == errc::rejected);
      if (!read_ && is_final) throw;
      shown_.fault = shown_fault(thrown);
    }
  }

  void take_keys() {
    std::array<char, 256> bytes{};
    const auto received = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (received <= 0) {
      code_ = exit_code::ended_by_signal(SIGHUP);  // the terminal is gone
      return;
    }
    for (const auto key : keys_in({bytes.data(), static_cast<std::size_t>(received)})) {
      if (prompt_) {
        take_for_prompt(key);
      } else {
        take_command(key);
      }
    }
  }

  void take_command(key_press key) {
    shown_.notice.clear();
    if (std::exchange(shown_.has_help, false)) return;
    switch (key) {
      case 'q':
        code_ = exit_code::success;
        return;
      case 'a':
        return sort_by(row_order::age);
      case 'l':
        return sort_by(row_order::remaining);
      case 'k':
        return sort_by(row_order::key);
      case 't':
        return prompt_for(&list_request::type);
      case 'h':
        return prompt_for(&list_request::holder);
      case ' ':
        return pause(!shown_.is_paused);
      case '?':
        shown_.has_help = true;
        return;
      default:
        return;
    }
  }

  void prompt_for(filter which) {
    typed_for_ = which;
    prompt_.emplace();
  }

  void pause(bool is_paused) {
    shown_.is_paused = is_paused;
    if (is_paused) {
      due_ = clock::time_point::max();
    } else {
      read_soon();
    }
  }

  void sort_by(row_order order) {
    shown_.request.sort = order;
    read_soon();
  }

  void take_for_prompt(key_press key) {
    if (key != enter_key && key != escape_key) {
      prompt_->take(key);
      return;
    }
    const auto typed = std::exchange(prompt_, std::nullopt)->text();
    shown_.notice.clear();
    if (key == escape_key) return;
    auto wanted = shown_.request;
    wanted.*typed_for_ = typed.empty() ? std::nullopt : std::optional{typed};
    try {
      check(wanted);
    } catch (const error& refused) {
      shown_.notice = fault_text(refused.what(), refused.code());
      return;
    }
    shown_.request = std::move(wanted);
    read_soon();
  }

  signal_queue& signals_;
  row_reader& reader_;
  top_state shown_;
  screen screen_;
  std::optional<int> code_;

  clock::time_point due_{};
  std::optional<clock::time_point> started_;  // the last read
  std::optional<clock::time_point> read_;     // the rows
  bool is_of_request_ = false;                // the read that is running
  std::optional<typed_line> prompt_;
  filter typed_for_ = nullptr;
};

int top_now(const top_options& options) {
  top_state shown{.table = options.where.table,
                  .request = options.which.request(),
                  .interval = interval_of(options),
                  .has_colors = options.which.has_colors(),
                  .rows = {}};
  shown.request.limit = largest_page;
  if (!options.is_once) require_terminal();
  // Before the store, whose threads are to inherit the blocked signals.
  std::optional<signal_queue> signals;
  if (!options.is_once) signals.emplace(true, std::initializer_list<int>{SIGWINCH, SIGCONT});
  const auto rows = options.where.open(options.where.database());
  if (options.is_once) {
    shown.rows = rows->list(shown.request);
    shown.age = std::chrono::microseconds::zero();
    for (const auto& line : frame_of(shown, size_of_terminal())) std::cout << line << '\n';
    return exit_code::success;
  }
  row_reader reader{*rows};
  const int code = top_loop{*signals, reader, std::move(shown)}.run();
  // A call that the database does not answer would keep the process for as long as it lasts.
  if (reader.is_running()) end_process(code);
  return code;
}

}  // namespace

void add_top(CLI::App& app, action& chosen) {
  const auto [top, options] =
      add_table_command(app, chosen, "top", "Watch the keys that are held, on a terminal", top_now);
  options->which.sort = "age";
  options->which.add_to(*top);
  add_value(*top, "--interval TIME", options->interval, "The time between two reads, 1s or more");
  top->add_flag("--once", options->is_once,
                "Print what it would show, once, also without a terminal");
  top->footer(
      R"(Keys: a by age, l by the time left, k by key; t only one type, h only one holder (typed in full, and then
Enter; empty: all); space pauses; ? help; q quits.

The columns are those of list. The counts are of the rows that the filters let through, the first 10000 at
most. Each read is one statement, which changes nothing: a role that only reads is enough. When the database
is away, top says so, keeps the last rows with their age, and tries again.

Exit code: 128 + n when signal n ended it.

Example:
  rowlock top postgresql://app@db/shop --sort left)");
}

}  // namespace rowlock::cli
