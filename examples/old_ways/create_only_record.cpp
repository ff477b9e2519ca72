// The old way: create a record that must not exist yet, with an expiry (memcached add, Redis SET NX
// PX, a cache's create-only put); retry with growing pauses; delete it when done.
// What goes wrong: the expiry is a guess, and a holder that outlives it deletes its successor's
// record.
#include <chrono>
#include <iostream>
#include <thread>

#include "rowlock/lock_table.hpp"
#include "rowlock/sqlite_store.hpp"

using namespace std::chrono_literals;

int main() {
  rowlock::migrate_sqlite("create_only_record.db");
  rowlock::sqlite_store store{"create_only_record.db"};
  const rowlock::lock_key report{.type = "report", .source_id = "2026-11"};

  // The expiry is the ttl: how long other processes wait after a crash, not how long work may take.
  rowlock::lock_table locks{store, {.ttl = 2s}};
  rowlock::lock_table rival{store, {.ttl = 2s}};

  auto held = rival.try_acquire(report);
  std::jthread letting_go{[&] {
    std::this_thread::sleep_for(300ms);
    held->release();
  }};

  // "SET NX" in a loop with backoff: tries, pauses and jitter are one policy.
  const rowlock::retry_policy growing{
      .attempts = 20, .first_pause = 20ms, .longest_pause = 500ms, .give_up_after = 10s};
  const auto written = locks.with_lock(
      report,
      [&](const rowlock::lease& mine) {
        std::this_thread::sleep_for(3s);  // longer than the ttl: it is renewed meanwhile
        return mine.is_valid();
      },
      {.wait = growing});
  if (!written.acquired()) {
    std::cout << "not acquired: " << written.refusal() << '\n';
    return 1;
  }
  std::cout << "written, and still ours after 3 s: " << std::boolalpha << *written << '\n';
}
