// Settings of the server that weaken a promise, on MariaDB.
#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/mysql_table.hpp"
#include "cli/database_url.hpp"
#include "support/own_mariadb.hpp"

namespace rowlock::tests {
namespace {

/// On a server of its own, because the settings are everybody's.
class MysqlSettings : public testing::Test {
 protected:
  MysqlSettings() { migrate_soci(target_); }

  /// The settings that are named, when the server has `setting`.
  std::vector<std::string> weak_with(const std::string& setting) {
    ::soci::session session{target_};
    session << "set global " + setting;
    soci_store rows{target_};
    std::vector<std::string> names;
    for (const auto& each : rows.weak_settings()) names.push_back(each.substr(0, each.find(' ')));
    return names;
  }

  own_mariadb server_;
  std::string target_ = database_url{server_.url()}.target();
};

using names = std::vector<std::string>;

TEST_F(MysqlSettings, ThatWeakenAPromiseAreNamed) {
  EXPECT_EQ(weak_with("innodb_flush_log_at_trx_commit = 1"), names{});
  EXPECT_EQ(weak_with("innodb_flush_log_at_trx_commit = 2"),
            names{"innodb_flush_log_at_trx_commit"});
  EXPECT_EQ(weak_with("sql_mode = ''"), (names{"innodb_flush_log_at_trx_commit", "sql_mode"}));
  EXPECT_EQ(weak_with("sql_mode = 'STRICT_TRANS_TABLES'"), names{"innodb_flush_log_at_trx_commit"});
}

}  // namespace
}  // namespace rowlock::tests
