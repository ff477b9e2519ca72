// Operators' calls: show the holder of a key, ask it to yield, take the key away, and delete unused
// rows.
#include "rowlock/operators.hpp"

#include <chrono>
#include <iostream>

#include "rowlock/lock_table.hpp"
#include "rowlock/sqlite_store.hpp"

using namespace std::chrono_literals;

int main() {
  rowlock::migrate_sqlite("operators.db");
  rowlock::sqlite_store store{"operators.db"};
  rowlock::lock_table locks{store, {.ttl = 1h, .holder = "web1"}};
  const rowlock::lock_key nightly{.type = "job", .source_id = "nightly"};
  const auto held = locks.try_acquire(nightly, {.note = "12,000 of 80,000"});

  const auto row = rowlock::show(store, nightly);
  std::cout << row->holder << " has it: " << row->note << '\n';

  // Takes nothing away: the holder sees it as held->wanted(), and decides when it releases.
  rowlock::ask(store, nightly, "deploy", "ann");
  const auto asked = rowlock::show(store, nightly)->asked;
  std::cout << asked->by << " asks for it: " << asked->reason << '\n';

  // The version that was shown: a holder that acquired the key since then keeps it.
  const auto taken = rowlock::force_release(store, nightly, row->version, "web1 is gone", "ann");
  std::cout << "taken away: " << std::boolalpha << (taken.answer == rowlock::force_answer::released)
            << "; " << taken.now->force_reason << '\n';
  const auto again = rowlock::force_release(store, nightly, row->version, "web1 is gone", "ann");
  std::cout << "again: " << (again.answer == rowlock::force_answer::stale ? "stale" : "wrong")
            << '\n';

  const auto purged = rowlock::purge(store, 30 * 24h);
  std::cout << "idle for a month: " << purged.purged << '\n';
}
