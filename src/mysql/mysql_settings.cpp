// Settings of a MariaDB or MySQL server that weaken a promise.
#include "mysql/mysql_settings.hpp"

#include <map>
#include <string_view>

#include "mysql/connection.hpp"

namespace rowlock::through_soci {

namespace {

using settings = std::map<std::string, std::string, std::less<>>;

std::string_view value_of(const settings& shown, std::string_view name) {
  const auto found = shown.find(name);
  return found == shown.end() ? std::string_view{} : found->second;
}

}  // namespace

std::vector<std::string> weak_settings_in(const mysql_answer& shown) {
  settings of_the_server;
  for (const auto& row : shown.rows) {
    of_the_server.emplace(row.at(0).value_or(""), row.at(1).value_or(""));
  }
  const auto is = [&](std::string_view name, std::string_view value) {
    return value_of(of_the_server, name) == value;
  };
  std::vector<std::string> weak;
  if (!is("innodb_flush_log_at_trx_commit", "1")) {
    weak.emplace_back(
        "innodb_flush_log_at_trx_commit is not 1 on this server: a crash can undo what it "
        "acknowledged, a grant or a release too; set innodb_flush_log_at_trx_commit = 1");
  }
  if (is("log_bin", "ON") && !is("sync_binlog", "1")) {
    weak.emplace_back(
        "sync_binlog is not 1 on this server: after a crash its replicas, and one that is "
        "promoted, can lack what it acknowledged; set sync_binlog = 1");
  }
  const auto mode = value_of(of_the_server, "sql_mode");
  if (mode.find("STRICT_ALL_TABLES") == std::string_view::npos &&
      mode.find("STRICT_TRANS_TABLES") == std::string_view::npos) {
    weak.emplace_back(
        "sql_mode of this server is not strict: what sessions of the application write may be cut "
        "without an error (those of rowlock are strict); add STRICT_TRANS_TABLES");
  }
  if (is("autocommit", "OFF")) {
    weak.emplace_back(
        "autocommit is off on this server: a session that only looks keeps its transaction, and "
        "with it its row locks and an old view; set autocommit = ON");
  }
  if (is("innodb_rollback_on_timeout", "ON")) {
    weak.emplace_back(
        "innodb_rollback_on_timeout is on on this server: a lock wait that times out, of the "
        "application or of a row lock that is refused, ends the whole transaction, and what the "
        "session does next is outside of any; set innodb_rollback_on_timeout = OFF");
  }
  if (is("wsrep_on", "ON")) {
    weak.emplace_back(
        "this server is a node of a Galera cluster: row locks of one node are not seen by the "
        "others; use leases and the write fence, or let all write through one node");
  }
  return weak;
}

}  // namespace rowlock::through_soci
