// Watches on keys.
#include "rowlock/watch.hpp"

#include <mutex>
#include <string>

#include "conformance/store_test.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::tests {
namespace {

class Watch : public store_test {
 protected:
  void see(const watched_key& now) {
    const std::scoped_lock lock{mutex_};
    last_ = now;
    ++seen_;
  }
  [[nodiscard]] std::optional<watched_key> last() {
    const std::scoped_lock lock{mutex_};
    return last_;
  }
  [[nodiscard]] int seen() {
    const std::scoped_lock lock{mutex_};
    return seen_;
  }
  void await_version(version expected, bool owned) {
    await_that([&] {
      const auto now = last();
      return now && now->row && now->row->version == expected && now->row->owned == owned;
    });
  }

  lock_table watchers_{*rows_, {.holder = "watcher"}};
  const std::shared_ptr<store> their_rows_ = bench_->open(20ms);

 private:
  std::mutex mutex_;
  std::optional<watched_key> last_;
  int seen_ = 0;
};

TEST_P(Watch, SeesWhatTheKeyIsAndBecomes) {
  const auto watching = watchers_.watch(key_, [this](const watched_key& now) { see(now); });
  await_that([&] { return last().has_value(); });
  EXPECT_EQ(last()->key, key_);
  EXPECT_FALSE(last()->row);
  const auto held = acquire(*their_rows_, key_, theirs_).version.value();
  await_version(held, true);
  EXPECT_EQ(last()->row->holder, "host:1");
  ASSERT_EQ(release(*their_rows_, key_, theirs_, held), change_answer::done);
  await_version(row(key_).version, false);
}

TEST_P(Watch, IsNotToldOfARenewal) {
  const auto held = granted(key_, theirs_);
  const auto watching = watchers_.watch(key_, [this](const watched_key& now) { see(now); });
  await_version(held, true);
  const auto before = seen();
  ASSERT_EQ(renew(key_, theirs_, held), change_answer::done);
  touch(other_key_);
  const auto other = row(other_key_).version;
  const auto watching_other =
      watchers_.watch(other_key_, [this](const watched_key& now) { see(now); });
  await_version(other, false);
  EXPECT_EQ(seen(), before + 1);
}

INSTANTIATE_TEST_SUITE_P(Stores, Watch, testing::ValuesIn(every_store()), name_of);

}  // namespace
}  // namespace rowlock::tests
