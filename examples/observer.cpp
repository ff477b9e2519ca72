// An observer that logs and counts the events of leases; the code that uses the locks has no
// logging.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>

#include "rowlock/lock_table.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "spdlog_observer.hpp"

using namespace std::chrono_literals;

int main() {
  const auto log = spdlog::stdout_logger_st("locks");
  log->set_level(spdlog::level::debug);
  const auto observer = std::make_shared<spdlog_observer>(log);

  rowlock::memory_store store;  // or a database
  const rowlock::lock_key invoice{.type = "invoice", .source_id = "42"};
  // A table that does not renew, as if its process had died.
  rowlock::lock_table dying{store,
                            {.ttl = 50ms, .margin = 10ms, .renew = false, .holder = "web1:4711"}};
  const auto left = dying.try_acquire(invoice);

  rowlock::lock_table locks{store, {.observer = observer}};
  (void)locks.try_acquire(invoice);  // refused
  auto held = locks.try_acquire(invoice, {.wait = 5s});
  if (held.acquired()) held->release();
}  // the remaining events are reported here
