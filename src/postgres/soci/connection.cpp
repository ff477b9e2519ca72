// The libpq connection inside a soci::session.
#include "postgres/soci/connection.hpp"

#include <libpq-fe.h>
#include <poll.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "postgres/connecting.hpp"
#include "postgres/libpq_result.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/error.hpp"

namespace rowlock::through_soci {

namespace {

using std::chrono::milliseconds;

constexpr std::string_view no_state = "     ";  // SOCI's value for none
constexpr std::string_view lost = "08006";

/// Not a dynamic_cast: Debian's SOCI does not export that type's information. The session's backend
/// name was checked when its soci_backend was chosen.
PGconn* connection_of(::soci::session& session) {
  auto* const backend = session.get_backend();
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast)
  auto* const opened = static_cast<::soci::postgresql_session_backend*>(backend);
  auto* const connection = opened == nullptr ? nullptr : opened->conn_;
  if (connection == nullptr) {
    throw error{errc::misuse, "the soci::session is not open: open it first"};
  }
  return connection;
}

constexpr auto never = boot_clock::time_point::max();

/// Milliseconds for poll(), which reads a negative value as no limit.
int until(boot_clock::time_point end) {
  if (end == never) return -1;
  const auto left = std::chrono::ceil<milliseconds>(end - boot_clock::now()).count();
  return static_cast<int>(std::clamp<milliseconds::rep>(left, 0, std::numeric_limits<int>::max()));
}

}  // namespace

soci_connection::soci_connection(::soci::session& session,
                                 std::optional<milliseconds> longest_answer)
    : connection_{connection_of(session)}, longest_answer_{longest_answer} {
  postgres::refuse_old(PQserverVersion(connection_));
}

postgres::result_set soci_connection::execute(const std::string& sql,
                                              const postgres::bound_values& values) {
  const auto texts = values.texts();
  auto result = execute_with([&] {
    return PQsendQueryParams(connection_, sql.c_str(), static_cast<int>(texts.size()), nullptr,
                             texts.data(), nullptr, nullptr, 0);
  });
  return postgres::result_set{std::make_unique<postgres::libpq_result>(std::move(result))};
}

std::string soci_connection::encoding() const {
  const char* const known = PQparameterStatus(connection_, "client_encoding");
  return known == nullptr ? std::string{} : std::string{known};
}

postgres::result_set soci_connection::run(const std::string& script) {
  auto result = execute_with([&] { return PQsendQuery(connection_, script.c_str()); });
  return postgres::result_set{std::make_unique<postgres::libpq_result>(std::move(result))};
}

soci_connection::raw_result soci_connection::execute_with(const std::function<int()>& send) {
  if (send() == 0) fail(nullptr);
  raw_result last{nullptr, &PQclear};
  for (;;) {
    wait_for_result();
    raw_result next{PQgetResult(connection_), &PQclear};
    if (next == nullptr) break;
    if (last == nullptr || !postgres::has_failed(last.get())) last = std::move(next);
  }
  if (last == nullptr || postgres::has_failed(last.get())) fail(last.get());
  return last;
}

void soci_connection::wait_for_result() const {
  const auto end = longest_answer_ ? boot_clock::now() + *longest_answer_ : never;
  while (PQisBusy(connection_) != 0) {
    pollfd socket{.fd = PQsocket(connection_), .events = POLLIN, .revents = 0};
    // A socket that is shut down reads as ended, so libpq reports the connection as lost.
    if (poll(&socket, 1, until(end)) == 0) shutdown(socket.fd, SHUT_RDWR);
    if (PQconsumeInput(connection_) == 0) return;
  }
}

void soci_connection::fail(const PGresult* known) const {
  const auto field = [known](int code) -> std::string {
    const char* const text = known == nullptr ? nullptr : PQresultErrorField(known, code);
    return text == nullptr ? "" : text;
  };
  std::string state = field(PG_DIAG_SQLSTATE);
  if (state.size() != no_state.size()) {
    state = PQstatus(connection_) == CONNECTION_OK ? no_state : lost;
  }
  const auto sentence = field(PG_DIAG_MESSAGE_PRIMARY);
  throw ::soci::postgresql_soci_error{
      sentence.empty() ? "libpq could not execute the statement" : sentence, state.c_str()};
}

postgres::fault postgres_fault_in(const std::exception& thrown) {
  const auto* const failed = dynamic_cast<const ::soci::postgresql_soci_error*>(&thrown);
  if (failed == nullptr) return {};
  const auto state = failed->sqlstate();
  return {.sqlstate = state == no_state ? std::string{} : state};
}

postgres::fault soci_connection::fault_in(const std::exception& thrown) const {
  return postgres_fault_in(thrown);
}

bool soci_connection::is_in_transaction() const noexcept {
  const auto state = PQtransactionStatus(connection_);
  return state == PQTRANS_INTRANS || state == PQTRANS_INERROR;
}

bool soci_connection::is_idle() const noexcept {
  return PQtransactionStatus(connection_) == PQTRANS_IDLE;
}

bool soci_connection::is_alive() const noexcept {
  return is_idle() && postgres::is_quiet(PQsocket(connection_));
}

void soci_connection::disconnect() noexcept { shutdown(PQsocket(connection_), SHUT_RDWR); }

void soci_connection::drop_notices() noexcept {
  PQsetNoticeReceiver(
      connection_, [](void* /*unused*/, const PGresult* /*notice*/) {}, nullptr);
}

int soci_connection::server_process() const noexcept { return PQbackendPID(connection_); }

namespace {

/// Throws for a state in which a transaction can neither be used nor begun.
void refuse_what_is_neither(PGTransactionStatusType state) {
  if (state == PQTRANS_UNKNOWN) {
    throw error{errc::unavailable,
                "the connection to PostgreSQL was lost: reconnect the soci::session"};
  }
  if (state == PQTRANS_ACTIVE) {
    throw error{errc::misuse,
                "a statement of the soci::session is not finished: read its rows to the end first"};
  }
}

}  // namespace

void soci_connection::require_transaction() const {
  const auto state = PQtransactionStatus(connection_);
  refuse_what_is_neither(state);
  if (state == PQTRANS_IDLE) {
    throw error{errc::misuse,
                "no transaction is open on the soci::session: begin one, with soci::transaction or "
                "rowlock::soci_transaction"};
  }
  if (state == PQTRANS_INERROR) postgres::throw_aborted_before();
}

void soci_connection::require_no_transaction() const {
  const auto state = PQtransactionStatus(connection_);
  refuse_what_is_neither(state);
  if (state != PQTRANS_IDLE) {
    throw error{errc::misuse, "the soci::session has an open transaction already: end it first"};
  }
}

}  // namespace rowlock::through_soci
