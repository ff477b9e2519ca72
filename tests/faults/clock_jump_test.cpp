// A client whose wall clock jumps by hours.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "faults/commanded_holder_test.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {
namespace {

class ClockJump : public commanded_holder_test {
 protected:
  /// A holder whose wall clock `jump` sets.
  std::unique_ptr<child_process> start_holder_with_a_clock(std::chrono::milliseconds ttl) {
    jump(0h);
    return start_holder(ttl, {{"LD_PRELOAD", ROWLOCK_LIBFAKETIME},
                              {"FAKETIME_TIMESTAMP_FILE", clock_file()},
                              {"FAKETIME_NO_CACHE", "1"},
                              {"DONT_FAKE_MONOTONIC", "1"},
                              // AddressSanitizer's runtime would insist on being the first.
                              {"ASAN_OPTIONS", "verify_asan_link_order=0"}});
  }

  /// In one step: the holder never reads half of it.
  void jump(std::chrono::seconds by) const {
    const auto next = clock_file() + ".next";
    std::ofstream{next} << (by < 0s ? "" : "+") << by.count() << '\n';
    std::filesystem::rename(next, clock_file());
  }

  /// By how many hours the holder's wall clock is off.
  static std::chrono::hours error_of_clock(child_process& holder) {
    const std::chrono::seconds theirs{std::stoll(command(holder, "clock"))};
    return std::chrono::round<std::chrono::hours>(
        theirs - std::chrono::system_clock::now().time_since_epoch());
  }

  std::chrono::milliseconds remaining_in_row() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        *rows_.read(std::array{key_}).front()->remaining);
  }

  void expect_unharmed(child_process& holder, std::chrono::milliseconds ttl) {
    const auto said = command(holder, "lease");
    ASSERT_EQ(said.substr(0, 6), "valid ") << said;
    EXPECT_LE(std::chrono::milliseconds{std::stoll(said.substr(6))}, ttl);
    EXPECT_GT(remaining_in_row(), 0ms);
    EXPECT_LE(remaining_in_row(), ttl);
  }

  postgres_store rows_{postgres_url(), {.table = table()}};

 private:
  [[nodiscard]] std::string clock_file() const { return folder_.path() / "clock"; }

  temp_folder folder_;
};

TEST_F(ClockJump, NeitherEndsNorExtendsALeaseThatIsRenewed) {
  constexpr auto ttl = 9s;  // more than a busy machine stops the holder
  const auto holder = start_holder_with_a_clock(ttl);
  expect_unharmed(*holder, ttl);
  for (const auto by : {6h, -12h}) {
    const auto expired_before = server_.value<std::string>("select expires_at from " + name());
    jump(by);
    ASSERT_EQ(error_of_clock(*holder), by);
    expect_unharmed(*holder, ttl);
    server_.await("select expires_at > '" + expired_before + "' from " + name());  // renewed
    expect_unharmed(*holder, ttl);
    EXPECT_EQ(command(*holder, "fence 10000"), "fenced");
    EXPECT_EQ(command(*holder, "commit"), "committed");
  }
  EXPECT_EQ(rows_in_journal(), 2);
}

TEST_F(ClockJump, NeitherShortensNorProlongsAWait) {
  lock_table locks{rows_, {.ttl = 1h}};
  const lock_key awaited{.type = key_.type, .source_id = key_.source_id + "-other"};
  const auto holder = start_holder_with_a_clock(1h);
  const auto server_time = [this] {
    return server_.value<std::string>("select clock_timestamp()");
  };
  // As long as the holder's store executes statements, the holder waits.
  const auto await_statement_after = [this](const std::string& now) {
    server_.await(
        "select count(*) > 0 from pg_stat_activity where pid <> pg_backend_pid()"
        " and query like '%" +
        schema() + "%' and query_start > '" + now + "'");
  };
  for (const auto by : {6h, -12h}) {
    lease other = *locks.try_acquire(awaited);
    const auto before = server_time();
    holder->write_line("wait 3000000");
    await_statement_after(before);
    jump(by);
    await_statement_after(server_time());
    other.release();
    EXPECT_EQ(holder->read_line(), "acquired");
  }
  for (const auto by : {6h, -12h}) {
    const lease other = *locks.try_acquire(awaited);
    const auto before = server_time();
    holder->write_line("wait 600");
    await_statement_after(before);
    jump(by);
    EXPECT_EQ(holder->read_line(), "was not free before the wait was over");
  }
}

}  // namespace
}  // namespace rowlock::tests
