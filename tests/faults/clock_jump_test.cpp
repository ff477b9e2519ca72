// A client whose wall clock jumps by hours.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "faults/told_holder_test.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {
namespace {

using clock = std::chrono::steady_clock;

class ClockJump : public told_holder_test {
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

  /// By how much the holder's wall clock is off.
  static std::chrono::seconds error_of_clock(child_process& holder) {
    const std::chrono::seconds theirs{std::stoll(tell(holder, "clock"))};
    return theirs - std::chrono::duration_cast<std::chrono::seconds>(
                        std::chrono::system_clock::now().time_since_epoch());
  }

  std::chrono::milliseconds remaining_in_row() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        *rows_.read(std::array{key_}).front()->remaining);
  }

  void expect_unharmed(child_process& holder, std::chrono::milliseconds ttl) {
    const auto said = tell(holder, "lease");
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
  constexpr auto ttl = 2s;
  const auto holder = start_holder_with_a_clock(ttl);
  expect_unharmed(*holder, ttl);
  for (const auto by : {6h, -12h}) {
    const auto expired_before = server_.value<std::string>("select expires_at from " + name());
    jump(by);
    ASSERT_NEAR(static_cast<double>(error_of_clock(*holder).count()),
                static_cast<double>(std::chrono::seconds{by}.count()), 2);
    expect_unharmed(*holder, ttl);
    server_.await("select expires_at > '" + expired_before + "' from " + name());  // renewed
    expect_unharmed(*holder, ttl);
    EXPECT_EQ(tell(*holder, "fence 10000"), "fenced");
    EXPECT_EQ(tell(*holder, "commit"), "committed");
  }
  EXPECT_EQ(rows_in_journal(), 2);
}

TEST_F(ClockJump, NeitherShortensNorProlongsAWait) {
  lock_table locks{rows_, {.ttl = 30s}};
  const lease other =
      *locks.try_acquire({.type = key_.type, .source_id = key_.source_id + "-other"});
  const auto holder = start_holder_with_a_clock(30s);
  for (const auto by : {6h, -12h}) {
    const auto now = server_.value<std::string>("select clock_timestamp()");
    const auto began = clock::now();
    holder->write_line("wait 600");
    server_.await(
        "select count(*) > 0 from pg_stat_activity where pid <> pg_backend_pid()"
        " and query like '%" +
        schema() + "%' and query_start > '" + now + "'");
    jump(by);
    EXPECT_EQ(holder->read_line(), "was not free before the wait was over");
    const auto waited = clock::now() - began;
    EXPECT_GT(waited, 500ms);
    EXPECT_LT(waited, 3s);
  }
}

}  // namespace
}  // namespace rowlock::tests
