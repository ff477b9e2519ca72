// A lock inside each site, a lock across all of them, and a short job that two clocks start.
#include <chrono>
#include <iostream>

#include "rowlock/lock_table.hpp"
#include "rowlock/sqlite_store.hpp"

using namespace std::chrono_literals;

int main() {
  rowlock::migrate_sqlite("sites.db");
  rowlock::sqlite_store store{"sites.db"};
  rowlock::lock_table everywhere{store};
  auto europe = everywhere.within("eu-1");
  auto america = everywhere.within("us-2");

  const rowlock::lock_key cache{"cache", "prices"};
  const auto ours = europe.try_acquire(cache);
  const auto theirs = america.try_acquire(cache);
  std::cout << ours->key() << " and " << theirs->key() << " do not meet\n";

  const rowlock::lock_key ledger{"ledger", "close"};
  const auto closing = everywhere.try_acquire(ledger);
  std::cout << "closed by one site at a time: " << std::boolalpha
            << !everywhere.try_acquire(ledger).acquired() << '\n';

  // The job takes a moment; the second clock is two seconds late, and must not start it again.
  const rowlock::lock_key job{"job", "newsletter"};
  const rowlock::acquire_options short_job{.hold_at_least = 1min, .note = "issue 17"};
  const auto sent = europe.with_lock(
      job, [] { return 1'000; }, short_job);
  const auto again = europe.with_lock(
      job, [] { return 1'000; }, short_job);
  std::cout << *sent << " sent; again: " << again.acquired() << "; " << europe.look(job)->note
            << '\n';
}
