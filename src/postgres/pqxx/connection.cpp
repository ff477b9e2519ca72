// Connections that libpqxx opens, and its errors.
#include "postgres/pqxx/connection.hpp"

#include <string_view>
#include <typeinfo>

#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/error.hpp"
#include "store/changing_target.hpp"

namespace rowlock::postgres {

namespace {

/// Whether a pooler has refused `options`.
bool is_about_options(std::string_view message) {
  return message.find("startup parameter") != std::string_view::npos;
}

/// The text of the failure; empty if it worked.
std::string try_to_connect(const std::string& text, std::shared_ptr<pqxx::connection>& opened) {
  try {
    opened = std::make_shared<pqxx::connection>(text);
    return {};
  } catch (const pqxx::failure& thrown) {
    const std::string message = thrown.what();
    return message.empty() ? "unknown" : message;
  }
}

opened_connection opened_by(std::shared_ptr<pqxx::connection> connection, bool is_to_be_pinned) {
  auto* const handle = handle_of(*connection);
  return {handle, std::move(connection), is_to_be_pinned};
}

}  // namespace

std::shared_ptr<pqxx::connection> connect(const conninfo& to) {
  std::shared_ptr<pqxx::connection> opened;
  std::string message = try_to_connect(to.text(), opened);
  if (is_about_options(message)) message = try_to_connect(to.text_without_options(), opened);
  if (opened == nullptr) throw_failed_connect(message, to.where());
  refuse_old(opened->server_version());
  return opened;
}

connector connector_to(const conninfo& to) {
  return [to] { return opened_by(connect(to), to.names_a_service()); };
}

connector connector_to(const conninfo& to, std::function<conninfo()> renewed) {
  const auto shared = std::make_shared<detail::changing_target<conninfo>>(
      to, [renewed = std::move(renewed)](const conninfo& /*last*/) { return renewed(); });
  const auto open = [](const conninfo& current) {
    return opened_by(connect(current), current.names_a_service());
  };
  const auto is_same = [](const conninfo& one, const conninfo& other) {
    return one.text() == other.text();
  };
  return [shared, open, is_same] { return shared->opened(open, is_same); };
}

connector connector_by(detail::make_connection make) {
  const auto mutex =
      std::make_shared<detail::checked_mutex>();  // `make` need not be safe for threads
  return [make = std::move(make), mutex] {
    const detail::checked_lock lock{*mutex};
    try {
      const auto made = make();
      if (made.connection == nullptr || *made.type != typeid(pqxx::connection)) {
        throw error{errc::misuse,
                    "the factory must return a std::unique_ptr<pqxx::connection> that is not null"};
      }
      auto connection = std::static_pointer_cast<pqxx::connection>(made.connection);
      refuse_old(connection->server_version());
      auto opened = opened_by(std::move(connection), true);
      const auto state = PQtransactionStatus(opened.handle);
      if (state == PQTRANS_INTRANS || state == PQTRANS_INERROR) {
        throw error{errc::misuse,
                    "the factory returned a connection with an open transaction, in which a grant "
                    "would not be committed: have it end the transaction first"};
      }
      return opened;
    } catch (const pqxx::failure& thrown) {
      throw_failed_connect(thrown.what(), "PostgreSQL, as the factory connects to it,");
    }
  };
}

namespace {

template <class Exception>
bool is(const std::exception& thrown) {
  return dynamic_cast<const Exception*>(&thrown) != nullptr;
}

std::string sqlstate_of(const std::exception& thrown) {
  // libpqxx 6 drops the SQLSTATE of some, and libpqxx 7 that of insufficient_privilege.
  if (is<pqxx::too_many_connections>(thrown)) return "53300";
  if (is<pqxx::insufficient_privilege>(thrown)) return "42501";
  if (is<pqxx::serialization_failure>(thrown)) return "40001";
  if (is<pqxx::deadlock_detected>(thrown)) return "40P01";
  if (is<pqxx::statement_completion_unknown>(thrown)) return "40003";
  const auto* failed = dynamic_cast<const pqxx::sql_error*>(&thrown);
  return failed == nullptr ? std::string{} : std::string{failed->sqlstate()};
}

}  // namespace

fault fault_in(const std::exception& thrown) {
  return {
      .sqlstate = sqlstate_of(thrown),
      .is_connection_dead = is<pqxx::broken_connection>(thrown) || is<pqxx::in_doubt_error>(thrown),
      .is_misuse = is<pqxx::usage_error>(thrown)};
}

void throw_as_error(effects had, const table_name* lock_table) {
  try {
    throw;
  } catch (const std::exception& thrown) {
    throw_as_error(fault_in(thrown), had, lock_table);
  }
}

}  // namespace rowlock::postgres
