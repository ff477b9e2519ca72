// A connection of a store, whose statements are executed with libpq.
#include "postgres/libpq_connection.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "postgres/connecting.hpp"
#include "postgres/sql/session.hpp"
#include "postgres/transaction.hpp"
#include "rowlock/error.hpp"

namespace rowlock::postgres {

namespace {

constexpr auto never = boot_clock::time_point::max();

/// Milliseconds for poll(), which reads a negative value as no limit.
int until(boot_clock::time_point end) {
  if (end == never) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - boot_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

/// libpq may have decrypted more than it has taken, and poll() does not wake for that: TLS comes in
/// records of 16 KB from a pooler or a proxy, of 8 KB from PostgreSQL.
constexpr std::chrono::milliseconds longest_encrypted_poll{10};

boot_clock::time_point end_of_poll(PGconn* connection, boot_clock::time_point end) {
  const bool is_encrypted = PQsslInUse(connection) != 0 || PQgssEncInUse(connection) != 0;
  return is_encrypted ? std::min(end, boot_clock::now() + longest_encrypted_poll) : end;
}

/// Returns when libpq has all that it needs for a result, or has lost the connection.
void await_input(PGconn* connection, boot_clock::time_point end, int stop) {
  while (PQstatus(connection) == CONNECTION_OK) {
    const int unsent = PQflush(connection);
    if (unsent < 0 || (unsent == 0 && PQisBusy(connection) == 0)) return;
    const auto wanted = static_cast<short>(unsent > 0 ? POLLIN | POLLOUT : POLLIN);
    std::array<pollfd, 2> awaited{{{.fd = PQsocket(connection), .events = wanted, .revents = 0},
                                   {.fd = stop, .events = POLLIN, .revents = 0}}};
    const auto poll_end = end_of_poll(connection, end);
    poll(awaited.data(), awaited.size(), until(poll_end));
    const bool is_over = boot_clock::now() >= end;  // whatever came: notices may never end
    // A socket that is shut down reads as ended, so libpq sees that the connection is lost.
    if (is_over || awaited[1].revents != 0) shutdown(awaited[0].fd, SHUT_RDWR);
    if (PQconsumeInput(connection) == 0) return;
  }
}

std::string field_of(const PGresult* result, int code) {
  const char* const text = result == nullptr ? nullptr : PQresultErrorField(result, code);
  return text == nullptr ? "" : text;
}

std::string message_of(const PGresult* result) {
  auto sentence = field_of(result, PG_DIAG_MESSAGE_PRIMARY);
  return sentence.empty() ? "libpq could not execute the statement" : sentence;
}

/// Under another encoding a key would be another row. (SQL_ASCII converts nothing.)
void require_utf8(const PGconn* connection) {
  const std::string_view encoding = pg_encoding_to_char(PQclientEncoding(connection));
  if (encoding == "UTF8" || encoding == "SQL_ASCII") return;
  throw error{errc::misuse, "the connection's client_encoding is " + std::string{encoding} +
                                ", and behind a pooler a store changes no setting: have it made "
                                "with client_encoding=UTF8"};
}

/// Equal texts have the same name everywhere, and different texts different ones: behind a pooler,
/// other clients may have prepared theirs on this connection.
std::string name_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return "rowlock_" + std::to_string(hash);
}

}  // namespace

raw_result await_result(PGconn* connection, boot_clock::time_point until, int stop) {
  raw_result last;
  for (;;) {
    await_input(connection, until, stop);
    raw_result next{PQgetResult(connection)};
    if (next == nullptr) return last;
    if (is_copy(next.get())) {  // no statement asks for it, and PQgetResult() never ends it
      shutdown(PQsocket(connection), SHUT_RDWR);
      while (PQconsumeInput(connection) != 0) continue;
      return nullptr;
    }
    if (last == nullptr || !has_failed(last.get())) last = std::move(next);
  }
}

libpq_failure::libpq_failure(const PGconn* connection, const PGresult* known)
    : std::runtime_error{message_of(known)},
      meaning_{.sqlstate = field_of(known, PG_DIAG_SQLSTATE),
               .is_connection_dead = PQstatus(connection) != CONNECTION_OK} {}

libpq_connection::libpq_connection(opened_connection opened, const answer_limit& limit,
                                   may_prepare* names)
    : opened_{std::move(opened)}, limit_{limit}, names_{names} {
  // A large statement to a peer that reads nothing must not block in send() either.
  PQsetnonblocking(handle(), 1);
}

libpq_connection::~libpq_connection() {
  if (PQstatus(handle()) == CONNECTION_OK) PQsetnonblocking(handle(), 0);  // as its owner knows it
}

boot_clock::time_point libpq_connection::limit_from_now() const {
  return limit_.longest ? boot_clock::now() + *limit_.longest : never;
}

// NOLINTNEXTLINE(readability-make-member-function-const): it changes what `opened_` points to
result_set libpq_connection::result_of(int sent, boot_clock::time_point until) {
  raw_result result;
  if (sent != 0) result = await_result(handle(), until, limit_.stop);
  if (result == nullptr || has_failed(result.get())) throw libpq_failure{handle(), result.get()};
  return result_set{std::make_unique<libpq_result>(std::move(result))};
}

const std::string& libpq_connection::prepared(const std::string& sql,
                                              boot_clock::time_point until) {
  const auto found = prepared_.find(&sql);
  if (found != prepared_.end()) return found->second;
  const auto name = name_of(sql);
  result_of(PQsendPrepare(handle(), name.c_str(), sql.c_str(), 0, nullptr), until);
  return prepared_.emplace(&sql, name).first->second;
}

result_set libpq_connection::execute(const std::string& sql, const bound_values& values) {
  const auto until = limit_from_now();
  if (names_ == nullptr || !*names_) return execute_unnamed(sql, values, until);
  const auto known = prepared_.size();
  try {
    const auto& name = prepared(sql, until);
    const auto texts = values.texts();
    return result_of(PQsendQueryPrepared(handle(), name.c_str(), static_cast<int>(texts.size()),
                                         texts.data(), nullptr, nullptr, 0),
                     until);
  } catch (const libpq_failure& thrown) {
    const auto& found = thrown.meaning();
    if (!found.is_prepared_statement_astray() && !found.is_plan_outdated()) throw;
    // A statement prepared just now cannot be outdated, unless it was prepared on another server
    // connection, long ago.
    const bool is_of_a_pooler = found.is_prepared_statement_astray() || prepared_.size() > known;
    if (is_of_a_pooler) *names_ = false;
    is_outdated_ = !is_of_a_pooler;
  }
  return execute_unnamed(sql, values, until);
}

result_set libpq_connection::execute_unnamed(const std::string& sql, const bound_values& values) {
  return execute_unnamed(sql, values, limit_from_now());
}

result_set libpq_connection::execute_unnamed(const std::string& sql, const bound_values& values,
                                             boot_clock::time_point until) {
  const auto texts = values.texts();
  return result_of(PQsendQueryParams(handle(), sql.c_str(), static_cast<int>(texts.size()), nullptr,
                                     texts.data(), nullptr, nullptr, 0),
                   until);
}

fault libpq_connection::fault_in(const std::exception& thrown) const {
  const auto* const failed = dynamic_cast<const libpq_failure*>(&thrown);
  return failed == nullptr ? fault{} : failed->meaning();
}

bool libpq_connection::is_idle() const noexcept {
  return PQtransactionStatus(handle()) == PQTRANS_IDLE;
}

bool libpq_connection::is_alive() const noexcept {
  return !is_outdated_ && is_idle() && is_quiet(PQsocket(handle()));
}

void libpq_connection::disconnect() noexcept { shutdown(PQsocket(handle()), SHUT_RDWR); }

void pin(libpq_connection& opened, const postgres_table& table, const time_pins& limits) {
  const auto count = [](const std::optional<std::chrono::milliseconds>& limit) {
    return limit ? std::optional{std::int64_t{limit->count()}} : std::nullopt;
  };
  try {
    opened.execute_unnamed(
        statement_for(table, sql::pin_session),
        bound_values{PQbackendPID(opened.handle()), count(limits.statement_timeout),
                     count(limits.lock_timeout)});
  } catch (const libpq_failure& thrown) {
    throw_as_error(thrown.meaning(), effects::none, &table.table);
  }
  require_utf8(opened.handle());
}

}  // namespace rowlock::postgres
