// The MYSQL handle of a SOCI session, and result sets.
#include "mysql/connection.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>
#include <sys/socket.h>

#include <memory>

#include "mysql/errors.hpp"
#include "mysql/sql/session.hpp"
#include "mysql/sql/transactions.hpp"

namespace rowlock::mysql {

namespace {

struct free_result {
  void operator()(MYSQL_RES* result) const noexcept { mysql_free_result(result); }
};
using stored_result = std::unique_ptr<MYSQL_RES, free_result>;

std::vector<result_set::row> rows_in(MYSQL_RES& result) {
  std::vector<result_set::row> rows;
  const unsigned columns = mysql_num_fields(&result);
  while (MYSQL_ROW fetched = mysql_fetch_row(&result)) {
    const unsigned long* lengths = mysql_fetch_lengths(&result);
    auto& row = rows.emplace_back(columns);
    for (unsigned at = 0; at < columns; ++at) {
      if (fetched[at] != nullptr) row[at].emplace(fetched[at], lengths[at]);
    }
  }
  return rows;
}

}  // namespace

// SOCI's library does not export the type for a dynamic_cast; the backend's name identifies it.
connection::connection(::soci::session& session)
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast)
    : connection_{static_cast<::soci::mysql_session_backend*>(session.get_backend())->conn_} {}

void connection::throw_last_error() const {
  throw_driver_error(mysql_errno(connection_), mysql_error(connection_), connection_->user);
}

result_set connection::answer() {
  result_set result;
  if (const stored_result stored{mysql_store_result(connection_)}) {
    result.rows = rows_in(*stored);
  } else if (mysql_field_count(connection_) != 0) {
    throw_last_error();
  }
  result.affected = mysql_affected_rows(connection_);
  result.insert_id = mysql_insert_id(connection_);
  return result;
}

result_set connection::execute(std::string_view sql, std::span<const bound_value> values) {
  const std::string text =
      with_places(sql, [&](std::size_t place) { return values[place].text(); });
  if (mysql_real_query(connection_, text.data(), text.size()) != 0) throw_last_error();
  auto result = answer();
  skip_results();
  return result;
}

void connection::skip_results() {
  for (;;) {
    const int more = mysql_next_result(connection_);
    if (more < 0) return;
    if (more > 0) throw_last_error();
    (void)answer();
  }
}

void connection::execute_script(const std::string& sql) {
  if (mysql_set_server_option(connection_, MYSQL_OPTION_MULTI_STATEMENTS_ON) != 0 ||
      mysql_real_query(connection_, sql.data(), sql.size()) != 0) {
    throw_last_error();
  }
  (void)answer();
  skip_results();
  if (mysql_set_server_option(connection_, MYSQL_OPTION_MULTI_STATEMENTS_OFF) != 0) {
    throw_last_error();
  }
}

bool connection::is_in_transaction() const noexcept {
  // With innodb_rollback_on_timeout the server has rolled back.
  constexpr unsigned lock_wait_timeout = 1205;
  return mysql_errno(connection_) == lock_wait_timeout ? is_still_in_transaction()
                                                       : shows_transaction();
}

bool connection::is_still_in_transaction() const noexcept {
  const auto number = mysql_errno(connection_);
  if (number != 0 && !ends_the_transaction(number, mysql_error(connection_))) {
    const auto probe = sql::do_nothing;
    if (mysql_real_query(connection_, probe.data(), probe.size()) != 0) return false;
  }
  return shows_transaction();
}

bool connection::shows_transaction() const noexcept {
  // An error does not report the state: after some errors the server has rolled back.
  const bool was_in = (connection_->server_status & SERVER_STATUS_IN_TRANS) != 0;
  return was_in && !ends_the_transaction(mysql_errno(connection_), mysql_error(connection_));
}

bool connection::is_in_autocommit() const noexcept {
  return (connection_->server_status & SERVER_STATUS_AUTOCOMMIT) != 0;
}

void connection::roll_back() noexcept {
  constexpr int tries = 2;
  for (int i = 0; i < tries; ++i) {
    try {
      execute(sql::roll_back);
      return;
    } catch (const std::exception&) {
      if (!shows_transaction()) return;  // the connection is lost, and the transaction with it
    }
  }
  disconnect();
}

void connection::disconnect() noexcept {
  shutdown(static_cast<int>(mysql_get_socket(connection_)), SHUT_RDWR);
}

bool connection::reconnects() const noexcept {
  my_bool is_on = 0;
  return mysql_get_option(connection_, MYSQL_OPT_RECONNECT, &is_on) == 0 && is_on != 0;
}

bool connection::names_an_authority() const noexcept {
  const char* authority = nullptr;
  return mysql_get_option(connection_, MYSQL_OPT_SSL_CA, &authority) == 0 && authority != nullptr;
}

bool connection::is_encrypted() const noexcept {
  return mysql_get_ssl_cipher(connection_) != nullptr;
}

sql::flavour connection::flavour() const noexcept {
  return server_text().find("MariaDB") == std::string_view::npos ? sql::flavour::mysql
                                                                 : sql::flavour::mariadb;
}

std::string_view connection::server_text() const noexcept {
  return mysql_get_server_info(connection_);
}

unsigned long connection::number_at_the_server() const noexcept {
  return mysql_thread_id(connection_);
}

unsigned long connection::server_version() const noexcept {
  return mysql_get_server_version(connection_);
}

void connection::close_on_exec() noexcept {
  (void)fcntl(static_cast<int>(mysql_get_socket(connection_)), F_SETFD, FD_CLOEXEC);
}

void connection::keep_alive() noexcept {
  const auto set = [this](int level, int option, int value) {
    // A socket that is not TCP has no such options, and needs none.
    (void)setsockopt(static_cast<int>(mysql_get_socket(connection_)), level, option, &value,
                     sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 10'000);
}

bool connection::is_alive() const noexcept {
  pollfd waited{
      .fd = static_cast<int>(mysql_get_socket(connection_)), .events = POLLIN, .revents = 0};
  return poll(&waited, 1, 0) == 0;
}

}  // namespace rowlock::mysql
