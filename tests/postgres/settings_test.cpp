// Settings of the server that weaken a promise.
#include <algorithm>
#include <string>
#include <vector>

#include "postgres/postgres_table.hpp"

namespace rowlock::tests {
namespace {

class PostgresSettings : public postgres_table {
 protected:
  /// A store of a role that has `setting`.
  postgres_store open_store_with(const std::string& setting) {
    server_.query("alter role " + role_.name() + " set " + setting);
    server_.query("grant usage on schema " + schema() + " to " + role_.name());
    server_.query("grant all on all tables in schema " + schema() + " to " + role_.name());
    return open_store(role_.url());
  }

  const test_role role_{server_};
};

bool speaks_of(const std::vector<std::string>& weak, const std::string& name) {
  return std::any_of(weak.begin(), weak.end(),
                     [&](const std::string& each) { return each.starts_with(name + " is off"); });
}

TEST_F(PostgresSettings, ThatLetAcknowledgedCommitsBeLostAreNamed) {
  EXPECT_TRUE(
      speaks_of(open_store_with("synchronous_commit = off").weak_settings(), "synchronous_commit"));
  EXPECT_FALSE(
      speaks_of(open_store_with("synchronous_commit = on").weak_settings(), "synchronous_commit"));
  EXPECT_EQ(speaks_of(open_store().weak_settings(), "fsync"),
            server_.value<std::string>("show fsync") == "off");
}

}  // namespace
}  // namespace rowlock::tests
