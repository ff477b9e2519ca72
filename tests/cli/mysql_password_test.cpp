// Where the command has the password of MariaDB from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "cli/cli_test.hpp"
#include "rowlock/port/requests.hpp"
#include "support/child_process.hpp"
#include "support/mariadb_line.hpp"
#include "support/mysql_database.hpp"

namespace rowlock::tests {

namespace {

using testing::HasSubstr;
using testing::Not;

class MysqlPassword : public testing::Test {
 protected:
  MysqlPassword() {
    for (const auto& name : names_) {
      line_.execute("create user " + name + " identified by 'sesame'");
      line_.execute("grant all on " + database_.name() + ".* to " + name);
    }
  }
  ~MysqlPassword() override {
    for (const auto& name : names_) line_.execute("drop user " + name);
  }

  /// As the user, whose `password` is in the URL, after a colon, or not.
  [[nodiscard]] result migrate(const std::string& password,
                               const std::map<std::string, std::string>& environment) const {
    const auto where = mariadb_address_of(database_.url());
    child_process process{{ROWLOCK_COMMAND, "migrate",
                           "mysql://" + user_ + password + "@" + where.host + ":" +
                               std::to_string(where.port) + "/" + where.database},
                          environment};
    return result_of(process);
  }

  mysql_database database_;
  mariadb_line line_{mariadb_url()};
  const std::string user_ = "u_" + make_owner_id().text.substr(0, 20);
  // A server may have a user without a name at localhost, which would go before '%'.
  const std::array<std::string, 2> names_{user_ + "@'%'", user_ + "@'localhost'"};
};

TEST_F(MysqlPassword, IsReadFromTheEnvironmentWhereTheUrlHasNone) {
  EXPECT_EQ(migrate("", {}).code, 69);
  const auto refused = migrate("", {{"MYSQL_PWD", "another sesame"}});
  EXPECT_EQ(refused.code, 69);
  EXPECT_THAT(refused.errors, Not(HasSubstr("another sesame")));
  EXPECT_EQ(migrate("", {{"MYSQL_PWD", "sesame"}}).code, 0);
}

TEST_F(MysqlPassword, OfTheUrlGoesBeforeThatOfTheEnvironment) {
  EXPECT_EQ(migrate(":sesame", {{"MYSQL_PWD", "another"}}).code, 0);
}

}  // namespace

}  // namespace rowlock::tests
