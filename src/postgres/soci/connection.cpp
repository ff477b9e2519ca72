// The libpq connection inside a soci::session.
#include "postgres/soci/connection.hpp"

#include <libpq-fe.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>

#include <memory>
#include <string_view>
#include <utility>

#include "postgres/connecting.hpp"
#include "postgres/libpq_connection.hpp"
#include "postgres/libpq_result.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/error.hpp"

namespace rowlock::through_soci {

namespace {

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

}  // namespace

soci_connection::soci_connection(::soci::session& session) : connection_{connection_of(session)} {
  postgres::refuse_old(PQserverVersion(connection_));
}

postgres::result_set soci_connection::execute(const std::string& sql,
                                              const postgres::bound_values& values) {
  const auto texts = values.texts();
  return result_of(PQsendQueryParams(connection_, sql.c_str(), static_cast<int>(texts.size()),
                                     nullptr, texts.data(), nullptr, nullptr, 0));
}

std::string soci_connection::encoding() const {
  const char* const known = PQparameterStatus(connection_, "client_encoding");
  return known == nullptr ? std::string{} : std::string{known};
}

postgres::result_set soci_connection::run(const std::string& script) {
  return result_of(PQsendQuery(connection_, script.c_str()));
}

postgres::result_set soci_connection::result_of(int sent) {
  postgres::raw_result result;
  if (sent != 0) result = postgres::await_result(connection_, boot_clock::time_point::max());
  if (result != nullptr && !postgres::has_failed(result.get())) {
    return postgres::result_set{std::make_unique<postgres::libpq_result>(std::move(result))};
  }
  const postgres::libpq_failure failed{connection_, result.get()};
  auto state = failed.meaning().sqlstate;
  if (state.size() != no_state.size())
    state = failed.meaning().is_connection_dead ? lost : no_state;
  throw ::soci::postgresql_soci_error{failed.what(), state.c_str()};
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

void soci_connection::drop_notices() noexcept {
  PQsetNoticeReceiver(
      connection_, [](void* /*unused*/, const PGresult* /*notice*/) {}, nullptr);
}

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
