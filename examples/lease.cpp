// Optimistic mode: the work runs only if the row could be marked ours, and outside any transaction.
#include <chrono>
#include <iostream>

#include "rowlock/lock_table.hpp"
#include "rowlock/sqlite_store.hpp"

using namespace std::chrono_literals;

namespace {

// Stands for anything slow outside the database. The receiver keeps the greatest token it has seen
// and refuses smaller ones; `lost()` requests a long job to stop.
int send_invoice(const rowlock::lease& held) {
  std::cout << "sending, token " << held.token() << '\n';
  return held.lost().stop_requested() ? 0 : 1;
}

}  // namespace

int main() {
  rowlock::migrate_sqlite("lease.db");  // once, when deploying; or: rowlock migrate sqlite:///...
  rowlock::sqlite_store store{"lease.db"};
  rowlock::lock_table locks{store, {.ttl = 30s}};
  rowlock::lock_table rival{store};  // in real life another process
  const rowlock::lock_key invoice{.type = "invoice", .source_id = "42"};

  const auto sent = locks.with_lock(invoice, [&](const rowlock::lease& held) {
    const auto refused = rival.try_acquire(invoice);
    std::cout << "not acquired: " << refused.refusal() << '\n';
    return send_invoice(held);
  });
  if (!sent.acquired()) {
    std::cout << "not acquired: " << sent.refusal() << '\n';
    return 1;
  }
  std::cout << *sent << " sent; the row is free again: "
            << (rival.try_acquire(invoice).acquired() ? "the rival has it" : "no") << '\n';
}
