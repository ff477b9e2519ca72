// Every protocol that can be measured, a line for each.
#include "race/known_protocols.hpp"

#include "race/advisory.hpp"
#include "race/bare_mariadb.hpp"
#include "race/bare_postgres.hpp"
#include "race/bare_sqlite.hpp"
#include "race/batches.hpp"
#include "race/caches.hpp"
#include "race/jpa_table.hpp"
#include "race/pglock.hpp"
#include "race/river.hpp"
#include "race/rowlock_on_mariadb.hpp"
#include "race/rowlock_on_postgres.hpp"
#include "race/rowlock_on_sqlite.hpp"
#include "race/shedlock.hpp"
#include "race/spring.hpp"
#include "race/sql_protocol.hpp"
#include "race/userver.hpp"

namespace rowlock::race {

std::vector<protocol> known_protocols() {
  return {
      rowlock_on_postgres("rowlock", {}),
      rowlock_on_postgres("rowlock_ungrouped", {.at_most = 1}),
      rowlock_releasing_asynchronously("rowlock_asynchronous_release"),
      rowlock_store_on_postgres("rowlock_store"),
      bare_postgres("bare"),
      batch_on_postgres("rowlock_batch"),
      renewal_on_postgres("rowlock_renewal"),
      bare_renewal("bare_renewal"),
      kept_on_postgres("rowlock_kept"),
      sql_protocol<shedlock>("shedlock"),
      sql_protocol<shedlock_in_autocommit>("shedlock_autocommit"),
      sql_protocol<spring>("spring"),
      sql_protocol<pglock>("pglock"),
      sql_protocol<userver>("userver"),
      sql_protocol<jpa_table>("jpa_table"),
      sql_protocol<river>("river"),
      sql_protocol<session_advisory>("advisory_session"),
      sql_protocol<transaction_advisory>("advisory_transaction"),
      rowlock_on_sqlite("rowlock_sqlite"),
      bare_sqlite("bare_sqlite"),
      rowlock_on_mariadb("rowlock_mariadb", {}),
      rowlock_on_mariadb("rowlock_mariadb_ungrouped", {.at_most = 1}),
      bare_mariadb("bare_mariadb"),
      redis("redis"),
      memcached("memcached"),
  };
}

}  // namespace rowlock::race
