// A lease on each invoice, row locks on the two accounts while the money moves, and a fence that
// ties the two together.
#include "worker.hpp"

#include <chrono>
#include <csignal>
#include <utility>

#include "rowlock/error.hpp"
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

}  // namespace

worker::worker(rowlock::store& locks, ledger& books, std::string name, score& mine, bool pauses)
    : locks_{locks, {.ttl = ttl}},
      books_{books},
      name_{std::move(name)},
      mine_{mine},
      is_to_pause_{pauses} {}

void worker::run(const std::string& start) {
  rowlock::backoff pauses{{.first_pause = 20ms, .longest_pause = 100ms}};
  go_round(
      books_, start, [this](const invoice& due) { return settle(due); },
      [&pauses] { pauses.pause(); });
}

bool worker::settle(const invoice& due) {
  bool is_settled = false;
  try {
    const auto done =
        locks_.with_lock({.type = "invoice", .source_id = due.id}, [&](const rowlock::lease& held) {
          is_settled = books_.is_settled(due.id);
          if (is_settled) {
            ++mine_.already_settled;
            return;
          }
          if (std::exchange(is_to_pause_, false)) std::raise(SIGSTOP);
          const auto moved = books_.settle(due, name_, held);
          is_settled = moved.acquired();
          if (!is_settled) return count(moved.refusal());
          ++mine_.settled;
        });
    if (!done.acquired()) count(done.refusal());
  } catch (const rowlock::lease_lost&) {  // nothing was written; it comes round again
    ++mine_.lost;
  }
  return is_settled;
}

void worker::count(const rowlock::refusal& refused) {
  ++(refused.reason == rowlock::refusal_reason::held ? mine_.refused_held : mine_.refused_busy);
}

void work_without_locks(ledger& books, const std::string& name, score& mine, scoreboard& board,
                        unsigned workers) {
  bool have_met = false;
  const auto settle = [&](const invoice& due) {
    if (books.is_settled(due.id)) {
      ++mine.already_settled;
      return true;
    }
    if (!std::exchange(have_met, true)) board.meet(workers);
    books.settle_without_locks(due, name);
    ++mine.settled;
    return true;
  };
  go_round(books, {}, settle, [] {});
}

}  // namespace settlement
