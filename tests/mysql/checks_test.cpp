// What the table on MariaDB refuses from any session, even from one that cuts long values.
#include <exception>
#include <string>
#include <vector>

#include "mysql/mysql_table.hpp"

namespace rowlock::tests {
namespace {

class MysqlChecks : public testing::TestWithParam<const char*> {
 protected:
  MysqlChecks() {
    migrate_soci(database_.target());
    session_ << "set sql_mode = '" << std::string{GetParam()} << "'";
  }

  /// Inserts `values` past the library; whether the table took them.
  bool takes(const std::string& columns, const std::string& values) {
    try {
      session_ << "insert into shared_lock (version, " + columns + ") values (1, " + values + ")";
      session_ << "delete from shared_lock";
      return true;
    } catch (const ::soci::mysql_soci_error& thrown) {
      const auto number = thrown.err_num_;  // too long, or a CHECK that does not hold
      EXPECT_TRUE(number == 1406 || number == 4025) << thrown.what();
      return false;
    }
  }
  bool takes_type(const std::string& literal) {
    return takes("lock_type, source_id", literal + ", 'a'");
  }
  bool takes_id(const std::string& literal) {
    return takes("lock_type, source_id", "'a', " + literal);
  }

  mysql_database database_;
  ::soci::session session_{database_.target()};
};

INSTANTIATE_TEST_SUITE_P(SqlMode, MysqlChecks, testing::Values("", "STRICT_ALL_TABLES"),
                         [](const auto& instance) {
                           return *instance.param == '\0' ? "Lax" : "Strict";
                         });

TEST_P(MysqlChecks, TakeIdsOf1To255Bytes) {
  EXPECT_TRUE(takes_id("repeat('s', 255)"));
  for (const auto* bad : {"''", "repeat('s', 256)", "repeat('s', 300)", "x'6100'"}) {
    EXPECT_FALSE(takes_id(bad)) << bad;
  }
}

TEST_P(MysqlChecks, TakeTypesOfTheirLengthAlone) {
  const std::string longest = "concat(repeat('s', 64), '/', repeat('t', 64), '#9999')";
  EXPECT_TRUE(takes_type(longest));
  for (const std::string bad :
       {"''", "repeat('t', 65)", "concat(repeat('s', 65), '/t')", "'a#12345'"}) {
    EXPECT_FALSE(takes_type(bad)) << bad;
  }
  EXPECT_FALSE(takes_type("concat(" + longest + ", '9')")) << "cut it would be a good one";
}

TEST_P(MysqlChecks, TakeOwnersAndHoldersOfTheirLengthAlone) {
  const auto takes_owned = [this](const std::string& owner, const std::string& holder) {
    return takes("lock_type, source_id, owner, holder, acquired_at, expires_at",
                 "'a', '1', " + owner + ", " + holder + ", utc_timestamp(6), utc_timestamp(6)");
  };
  EXPECT_TRUE(takes_owned("repeat('a', 32)", "repeat('h', 128)"));
  EXPECT_FALSE(takes_owned("repeat('a', 33)", "'h'"));
  EXPECT_FALSE(takes_owned("repeat('a', 32)", "repeat('h', 129)"));
}

TEST_P(MysqlChecks, TakeNotesAndReasonsOfTheirLengthAlone) {
  for (const std::string column : {"note", "force_reason"}) {
    EXPECT_TRUE(takes("lock_type, source_id, " + column, "'a', '1', repeat('n', 1024)"));
    EXPECT_FALSE(takes("lock_type, source_id, " + column, "'a', '1', repeat('n', 1025)"));
  }
}

}  // namespace
}  // namespace rowlock::tests
