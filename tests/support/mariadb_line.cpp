// A connection to MariaDB that knows nothing of rowlock.
#include "support/mariadb_line.hpp"

#include <mysql.h>

#include <regex>

#include "support/patience.hpp"

namespace rowlock::tests {

namespace {

using result = std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)>;

}  // namespace

mariadb_line::mariadb_line(const std::string& url)
    : connection_{mysql_init(nullptr), [](st_mysql* opened) { mysql_close(opened); }} {
  const auto where = mariadb_address_of(url);
  const unsigned limit = patience.count();
  for (const auto option :
       {MYSQL_OPT_CONNECT_TIMEOUT, MYSQL_OPT_READ_TIMEOUT, MYSQL_OPT_WRITE_TIMEOUT}) {
    mysql_options(connection_.get(), option, &limit);
  }
  if (mysql_real_connect(connection_.get(), where.host.c_str(), where.user.c_str(),
                         where.password.c_str(), where.database.c_str(), where.port, nullptr,
                         0) == nullptr) {
    throw_error();
  }
}

void mariadb_line::execute(const std::string& sql) { rows(sql); }

std::vector<mariadb_line::row> mariadb_line::rows(const std::string& sql) {
  if (mysql_real_query(connection_.get(), sql.data(), sql.size()) != 0) throw_error();
  const result answered{mysql_store_result(connection_.get()), mysql_free_result};
  if (answered == nullptr) {
    if (mysql_field_count(connection_.get()) != 0) throw_error();
    return {};
  }
  std::vector<row> all;
  const auto columns = mysql_num_fields(answered.get());
  while (MYSQL_ROW fields = mysql_fetch_row(answered.get())) {
    auto& copied = all.emplace_back();
    const auto* const lengths = mysql_fetch_lengths(answered.get());
    for (unsigned column = 0; column < columns; ++column) {
      copied.push_back(fields[column] == nullptr
                           ? std::nullopt
                           : std::optional{std::string{fields[column], lengths[column]}});
    }
  }
  return all;
}

std::string mariadb_line::value(const std::string& sql) {
  const auto found = rows(sql);
  if (found.size() != 1) throw std::runtime_error{"not one row: " + sql};
  return found.front().at(0).value();
}

void mariadb_line::throw_error() const {
  throw mariadb_error{mysql_errno(connection_.get()), mysql_error(connection_.get())};
}

mariadb_address mariadb_address_of(const std::string& url) {
  static const std::regex form{"mysql://([^:@/]+)(?::([^@/]*))?@([^:/]+):([0-9]+)/([^?]+)"};
  std::smatch parts;
  if (!std::regex_match(url, parts, form)) {
    throw std::runtime_error{
        "a MariaDB of the tests is to look like mysql://root@127.0.0.1:3306/rowlock_test"};
  }
  return {.user = parts[1],
          .password = parts[2],
          .host = parts[3],
          .port = static_cast<unsigned>(std::stoul(parts[4])),
          .database = parts[5]};
}

std::string mariadb_url_through(int port, const std::string& url) {
  const auto where = mariadb_address_of(url);
  const auto password = where.password.empty() ? "" : ":" + where.password;
  return "mysql://" + where.user + password + "@127.0.0.1:" + std::to_string(port) + "/" +
         where.database;
}

}  // namespace rowlock::tests
