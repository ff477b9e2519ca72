// A lease on each invoice, row locks on the two accounts while the money moves, and a fence that
// ties the two together.
#include "worker.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <system_error>
#include <utility>

#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/retry.hpp"

namespace settlement {
namespace {

using namespace std::chrono_literals;

// Few, because others settle what was read here before this worker comes to it.
constexpr int page = 10;

// The invoices of a worker that died are taken over after so long.
constexpr auto ttl = 2s;

// Calls `settle` for what is not settled, from the one after `start` to the end and again from the
// beginning, until nothing is left; calls `pause` after a page that was all refused.
template <class Settle, class Pause>
void go_round(ledger& books, std::string position, const Settle& settle, const Pause& pause) {
  for (;;) {
    const auto due = books.unsettled_after(position, page);
    if (due.empty()) {
      if (position.empty()) return;
      position.clear();
      continue;
    }
    bool any_settled = false;
    for (const auto& one : due) any_settled = settle(one) || any_settled;
    if (!any_settled) pause();
    position = due.back().id;
  }
}

/// Settles single invoices under a lease.
class settler {
 public:
  settler(rowlock::store& locks, ledger& books, const std::string& name, worker_counts& counts,
          bool pauses)
      : locks_{locks, {.ttl = ttl}},
        books_{books},
        name_{name},
        counts_{counts},
        is_to_pause_{pauses} {}

  /// True if the invoice is settled now, by any worker.
  bool settle(const invoice& due) {
    bool is_settled = false;
    try {
      const auto done = locks_.with_lock({.type = "invoice", .source_id = due.id},
                                         [&](const rowlock::lease& held) {
                                           is_settled = books_.is_settled(due.id);
                                           if (is_settled) {
                                             ++counts_.already_settled;
                                             return;
                                           }
                                           if (std::exchange(is_to_pause_, false))
                                             std::raise(SIGSTOP);
                                           const auto moved = books_.settle(due, name_, held);
                                           is_settled = moved.acquired();
                                           if (!is_settled) return count(moved.refusal());
                                           ++counts_.settled;
                                         });
      if (!done.acquired()) count(done.refusal());
    } catch (const rowlock::lease_lost&) {  // nothing was written; it comes round again
      ++counts_.lost;
    }
    return is_settled;
  }

 private:
  void count(const rowlock::refusal& refused) {
    ++(refused.reason == rowlock::refusal_reason::held ? counts_.refused_held
                                                       : counts_.refused_busy);
  }

  rowlock::lock_table locks_;
  ledger& books_;
  const std::string& name_;
  worker_counts& counts_;
  bool is_to_pause_;
};

pid_t checked_fork() {
  std::cout.flush();  // what stands in its buffer would be printed twice
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error{errno, std::generic_category(), "fork"};
  return child;
}

}  // namespace

void settle_invoices(rowlock::store& locks, ledger& books, const std::string& name,
                     worker_counts& counts, const std::string& start, bool pauses) {
  settler one{locks, books, name, counts, pauses};
  rowlock::backoff between_rounds{{.first_pause = 20ms, .longest_pause = 100ms}};
  go_round(
      books, start, [&](const invoice& due) { return one.settle(due); },
      [&] { between_rounds.pause(); });
}

void settle_without_locks(ledger& books, const std::string& name, worker_counts& counts,
                          const std::function<void()>& await_all) {
  bool has_waited = false;
  const auto settle = [&](const invoice& due) {
    if (books.is_settled(due.id)) {
      ++counts.already_settled;
      return true;
    }
    if (!std::exchange(has_waited, true)) await_all();
    books.settle_without_locks(due, name);
    ++counts.settled;
    return true;
  };
  go_round(books, {}, settle, [] {});
}

worker_process::worker_process(std::string name, const std::function<void()>& body)
    : name_{std::move(name)}, pid_{checked_fork()} {
  if (pid_ > 0) return;

  // No child is left when the supervisor itself is killed.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int code = 1;
  try {
    body();
    code = 0;
  } catch (const std::exception& problem) {
    std::cerr << name_ + ": " + problem.what() + "\n";
  }
  // Not exit: what the parent built is the parent's to take down.
  ::_exit(code);
}

worker_process::worker_process(worker_process&& other) noexcept
    : name_{std::move(other.name_)},
      pid_{other.pid_},
      is_over_{std::exchange(other.is_over_, true)},
      status_{other.status_} {}

worker_process::~worker_process() { kill(); }

bool worker_process::is_running() {
  if (!is_over_) is_over_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return !is_over_;
}

bool worker_process::stop() {
  if (!is_running()) return false;
  ::kill(pid_, SIGSTOP);
  while (::waitpid(pid_, &status_, WUNTRACED) < 0) {
    if (errno != EINTR) throw std::system_error{errno, std::generic_category(), "waitpid"};
  }
  is_over_ = !WIFSTOPPED(status_);
  return !is_over_;
}

void worker_process::resume() const noexcept {
  if (!is_over_) ::kill(pid_, SIGCONT);
}

void worker_process::kill() noexcept {
  if (is_over_) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  is_over_ = true;
}

bool worker_process::has_succeeded() const noexcept {
  return is_over_ && WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
}

std::string worker_process::ending() const {
  if (!is_over_) return "still running";
  if (WIFSIGNALED(status_)) return "killed by signal " + std::to_string(WTERMSIG(status_));
  return has_succeeded() ? "done" : "failed with code " + std::to_string(WEXITSTATUS(status_));
}

}  // namespace settlement
