// What a thousand coroutines that wait cost.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "asio/asio_test.hpp"

namespace rowlock::tests {
namespace {

class ManyWaits : public asio_test {
 protected:
  static constexpr int keys = 100;
  static constexpr int waiters = 1000;

  /// A number of /proc/self/status.
  static long status(const std::string& name) {
    std::ifstream lines{"/proc/self/status"};
    for (std::string word; lines >> word;) {
      if (word != name) continue;
      long number = 0;
      lines >> number;
      return number;
    }
    throw std::runtime_error{"no " + name};
  }
  static std::string id(int i) { return std::to_string(i % keys); }

  [[nodiscard]] std::size_t statements() {
    std::size_t count = 0;
    for (const auto* each : {"acquire", "watch", "renew", "release", "prepare"}) {
      count += rows_.batches(each).size();
    }
    return count;
  }
};

TEST_F(ManyWaits, OfAThousandWaitsOnFourThreadsInLittleMemoryAndWithTwoStatementsASecond) {
  std::vector<lease> held;
  for (int i = 0; i < keys; ++i) held.push_back(theirs(id(i)));
  const auto memory = status("VmRSS:");
  const auto threads = status("Threads:");

  int served = 0;
  const auto wait = [&](lock_key key) -> asio::awaitable<int> {
    const auto got = co_await async_with_lock(
        *ours_, key, [&]() -> asio::awaitable<void> { co_return; }, waiting());
    co_return got.acquired() ? ++served : 0;
  };
  std::vector<std::shared_ptr<spawned<int>>> all;
  for (int i = 0; i < waiters; ++i) all.push_back(spawn(wait({"job", id(i)})));
  io_->poll();
  await_that(
      [this] { return !rows_.batches("watch").empty() && rows_.batches("watch").back() >= keys; },
      [this] { time_->advance(10ms); });
  time_->advance(20s);  // younger holds are read more often where no release is announced
  await_in_line();

  EXPECT_LE(status("Threads:") - threads, 4 + 4) << "its four, and those that keep leases and wait";
  EXPECT_LT(status("VmRSS:") - memory, 64L * 1024) << "in KB";
  const auto before = statements();
  pass(*time_, 10s, 10ms);
  EXPECT_LE(statements() - before, 20U) << "more than two a second";
  RecordProperty("memory_kb", static_cast<int>(status("VmRSS:") - memory));
  RecordProperty("statements_in_10_s", static_cast<int>(statements() - before));

  held.clear();
  await_that([&] { return served == waiters; },
             [&] {
               io_->restart();
               io_->poll();
               time_->advance(10ms);
             });
}

}  // namespace
}  // namespace rowlock::tests
