// How a statement is written for MariaDB, and how for MySQL.
#include "mysql/sql/spelling.hpp"

#include <utility>

#include "store/names.hpp"

namespace rowlock::sql {

namespace {

std::string with(std::string sql, std::string_view word, std::string_view meaning) {
  const auto found = sql.find(word);
  if (found != std::string::npos) sql.replace(found, word.size(), meaning);
  return sql;
}

}  // namespace

std::string mysql_spelling::plain(std::string_view sql) const {
  const bool is_mariadb = flavour_ == mysql_flavour::mariadb;
  auto text = with(std::string{sql}, "{isolation}",
                   is_mariadb ? "@@session.tx_isolation" : "@@session.transaction_isolation");
  text = with(std::move(text), "{clustered}", is_mariadb ? "@@session.wsrep_on" : "0");
  // MySQL cannot lock rows of json_table, and must be told which of the two tables is meant.
  text = with(std::move(text), "{for_update}", is_mariadb ? "FOR UPDATE" : "FOR UPDATE OF l");
  text = with(std::move(text), "{for_share}", is_mariadb ? "LOCK IN SHARE MODE" : "FOR SHARE OF l");
  return in_backticks(table_, text);
}

std::string mysql_spelling::without_waiting(std::string_view sql) const {
  return with_time_limit("0", sql);
}

std::string mysql_spelling::skipping_locked(std::string_view sql) const {
  // MariaDB 10.11 fails with error 1180 where SKIP LOCKED meets a row lock and the limit is 0.
  return with_time_limit("1", sql);
}

std::string mysql_spelling::with_time_limit(std::string_view seconds, std::string_view sql) const {
  if (flavour_ == mysql_flavour::mysql) return plain(sql);
  std::string text = "SET STATEMENT innodb_lock_wait_timeout = ";
  text += seconds;
  return text + " FOR " + plain(sql);
}

}  // namespace rowlock::sql
