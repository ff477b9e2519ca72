// The labels of holders.
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <string>
#include <thread>

#include "rowlock/lock_table.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "support/caught_error.hpp"

namespace rowlock::tests {
namespace {

class HolderLabel : public testing::Test {
 protected:
  std::string holder_of(lock_table& locks, const acquire_options& options = {}) {
    const auto held = locks.try_acquire(key_, options);
    return rows_.read(std::array{key_}).front()->holder;
  }
  /// In a thread with that name.
  std::string holder_in_thread(lock_table& locks, const std::string& name) {
    std::string holder;
    std::thread{[&] {
      pthread_setname_np(pthread_self(), name.c_str());
      holder = holder_of(locks);
    }}.join();
    return holder;
  }

  const lock_key key_{"job", "a"};
  memory_store rows_;
};

TEST_F(HolderLabel, HasTheNameOfTheThreadIfAskedFor) {
  lock_table locks{rows_, {.holder = "web1", .thread_in_holder = true}};
  EXPECT_EQ(holder_in_thread(locks, "importer"), "web1:importer");
  EXPECT_EQ(holder_in_thread(locks, "exporter"), "web1:exporter");
}

TEST_F(HolderLabel, HasTheNumberOfAThreadWhoseNameIsNoText) {
  lock_table locks{rows_, {.holder = "web1", .thread_in_holder = true}};
  for (const auto* name : {"\xff\xfe", "", "a\x1b[2J", "a\x7f"}) {
    const auto holder = holder_in_thread(locks, name);
    EXPECT_EQ(holder.find_first_not_of("0123456789", 5), std::string::npos) << holder;
    EXPECT_GT(holder.size(), 5U);
  }
}

TEST_F(HolderLabel, HasNoThreadIfNotAskedFor) {
  lock_table locks{rows_, {.holder = "web1"}};
  EXPECT_EQ(holder_in_thread(locks, "importer"), "web1");
}

TEST_F(HolderLabel, OfAnAttemptIsUsedInItsPlace) {
  lock_table locks{rows_, {.holder = "web1", .thread_in_holder = true}};
  EXPECT_EQ(holder_of(locks, {.holder = "job 7 of ann"}), "job 7 of ann");
  const auto all = locks.try_acquire_all({key_}, {.holder = "job 8"});
  EXPECT_EQ(rows_.read(std::array{key_}).front()->holder, "job 8");
}

TEST_F(HolderLabel, ThatCannotBeIsMisuse) {
  lock_table locks{rows_};
  for (const auto& label :
       {std::string{}, std::string(129, 'h'), std::string{"a\0b", 3}, std::string{"\xff"}}) {
    EXPECT_EQ(error_of([&] { (void)locks.try_acquire(key_, {.holder = label}); }).kind,
              errc::misuse);
  }
}

TEST_F(HolderLabel, WithoutRoomForTheNameOfAThreadIsMisuse) {
  EXPECT_NO_THROW((lock_table{rows_, {.holder = std::string(112, 'h'), .thread_in_holder = true}}));
  EXPECT_EQ(error_of([&] {
              lock_table{rows_, {.holder = std::string(113, 'h'), .thread_in_holder = true}};
            }).kind,
            errc::misuse);
}

}  // namespace
}  // namespace rowlock::tests
