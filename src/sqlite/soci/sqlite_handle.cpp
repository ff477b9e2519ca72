// What SOCI's sqlite3 backend is made of.
//
// The only file that includes its header, which has sqlite3.h inside of a namespace: so this file
// must not include that itself, and the two names of the handle's type are made one by a cast.
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <exception>

#include "rowlock/error.hpp"
#include "rowlock/retry.hpp"
#include "sqlite/database_file.hpp"
#include "sqlite/result_codes.hpp"
#include "sqlite/soci/handle.hpp"
#include "sqlite/soci/sqlite_parameters.hpp"

namespace rowlock::through_soci {

namespace {

class factory_of_existing_files final : public ::soci::backend_factory {
 public:
  [[nodiscard]] ::soci::details::session_backend* make_session(
      const ::soci::connection_parameters& parameters) const override {
    (void)on_sqlite::as_existing_file(file_in(parameters.get_connect_string()));
    return ::soci::factory_sqlite3()->make_session(parameters);
  }
};

bool is_conflict_of_soci(const std::exception& thrown) {
  const auto* const by_driver = dynamic_cast<const ::soci::sqlite3_soci_error*>(&thrown);
  return by_driver != nullptr && on_sqlite::is_busy({by_driver->result(), ""});
}

}  // namespace

::sqlite3* handle_of(::soci::session& session) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): SOCI says to do so
  const auto* const backend = static_cast<::soci::sqlite3_session_backend*>(session.get_backend());
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): one type by two names
  return reinterpret_cast<::sqlite3*>(backend->conn_);
}

const ::soci::backend_factory& existing_files() {
  static const factory_of_existing_files factory;
  return factory;
}

void throw_opening_failure() {
  try {
    throw;
  } catch (const error&) {
    throw;
  } catch (const ::soci::sqlite3_soci_error& thrown) {
    throw on_sqlite::failure{thrown.result(), "opening it failed"};
  }
}

void recognise_sqlite_conflicts() noexcept { detail::recognise_conflicts(&is_conflict_of_soci); }

}  // namespace rowlock::through_soci
