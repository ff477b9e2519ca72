// The text of the statements for MariaDB and MySQL that run in the application's transaction.
//
// What mysql_statements.cpp says of all of them holds for these too.
#include "mysql/sql/transaction_statements.hpp"

#include "mysql/sql/spelling.hpp"
#include "store/names.hpp"

namespace rowlock::sql {

namespace {

// The look of the others, and what matters of the session. At SERIALIZABLE a look in a transaction
// locks what it reads.
constexpr std::string_view look_and_settings = R"sql(
SELECT w.place, l.version, l.owner, CAST(l.holder AS BINARY) AS holder,
       date_format(l.acquired_at, '%Y-%m-%d %H:%i:%s.%f') AS acquired_at,
       timestampdiff(MICROSECOND, utc_timestamp(6), l.expires_at) AS remaining_us,
       l.failure_count, l.expiry_count, l.done_by,
       date_format(l.done_at, '%Y-%m-%d %H:%i:%s.%f') AS done_at,
       timestampdiff(MICROSECOND, utc_timestamp(6), l.done_until) AS done_remaining_us,
       CAST(l.note AS BINARY) AS note, CAST(l.force_reason AS BINARY) AS force_reason,
       {isolation} AS isolation, {clustered} AS clustered
  FROM json_table($1, '$[*]' COLUMNS (
         place FOR ORDINALITY,
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]')) AS w
  LEFT JOIN shared_lock AS l ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
 LIMIT 18446744073709551615
)sql";

// The pessimistic lock is this write: whoever has seen the row before finds it changed. The version
// is the insert id. $1 type, $2 id, $3 microseconds since which the row must be free
constexpr std::string_view lock_row = R"sql(
UPDATE shared_lock
   SET expiry_count = expiry_count + (owner IS NOT NULL),
       version = last_insert_id(greatest(
         version + 1, timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6)))),
       owner = NULL, holder = NULL, acquired_at = NULL, expires_at = '1970-01-01 00:00:00'
 WHERE lock_type = $1 AND source_id = $2
   AND expires_at <= utc_timestamp(6) - INTERVAL $3 MICROSECOND
)sql";

// $1: type, id; $2 microseconds since which the rows must be free
constexpr std::string_view lock_many = R"sql(
UPDATE json_table($1, '$[*]' COLUMNS (
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
   SET l.expiry_count = l.expiry_count + (l.owner IS NOT NULL),
       l.version = greatest(l.version + 1,
                            timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6))),
       l.owner = NULL, l.holder = NULL, l.acquired_at = NULL,
       l.expires_at = '1970-01-01 00:00:00'
 WHERE l.expires_at <= utc_timestamp(6) - INTERVAL $2 MICROSECOND
)sql";

// $1 type, $2 id
constexpr std::string_view insert_unowned = R"sql(
INSERT INTO shared_lock (lock_type, source_id, version)
VALUES ($1, $2, last_insert_id(timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6))))
)sql";

// Unsets leases that ran out $2 microseconds ago. $1: type, id, version as it was seen
constexpr std::string_view prepare_many = R"sql(
UPDATE json_table($1, '$[*]' COLUMNS (
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         version bigint PATH '$[2]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
   SET l.version = greatest(l.version + 1,
                            timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6))),
       l.owner = NULL, l.holder = NULL, l.acquired_at = NULL,
       l.expires_at = '1970-01-01 00:00:00', l.expiry_count = l.expiry_count + 1
 WHERE l.version = w.version AND l.owner IS NOT NULL
   AND l.expires_at <= utc_timestamp(6) - INTERVAL $2 MICROSECOND
)sql";

// $1 type, $2 id, $3 the version seen
constexpr std::string_view advance = R"sql(
UPDATE shared_lock
   SET version = greatest(version + 1,
                          timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6)))
 WHERE lock_type = $1 AND source_id = $2 AND version = $3 AND owner IS NULL
   AND expires_at <= utc_timestamp(6)
)sql";

// $1: type, id, version
constexpr std::string_view fence_by_writing = R"sql(
UPDATE json_table($1, '$[*]' COLUMNS (
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         version bigint PATH '$[2]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
   SET l.fence_count = l.fence_count + 1
 WHERE l.version = w.version AND l.owner IS NOT NULL
)sql";

// Answers a row for each that it could lock. $1: type, id, version
constexpr std::string_view fence_by_sharing = R"sql(
SELECT w.place, {clustered} AS clustered
  FROM json_table($1, '$[*]' COLUMNS (
         place FOR ORDINALITY,
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         version bigint PATH '$[2]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
 WHERE l.version = w.version AND l.owner IS NOT NULL
 LIMIT 18446744073709551615
   {for_share} SKIP LOCKED
)sql";

// $1: type, id, version, microseconds for which the row stays closed, and for which it is
// remembered as done, or 0
constexpr std::string_view release_with = R"sql(
UPDATE json_table($1, '$[*]' COLUMNS (
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]',
         version bigint PATH '$[2]',
         closed bigint PATH '$[3]',
         done bigint PATH '$[4]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
   SET l.fence_count = l.fence_count + 1,
       l.version = greatest(l.version + 1,
                            timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6))),
       l.owner = NULL, l.holder = IF(w.closed > 0, l.holder, NULL), l.acquired_at = NULL,
       l.expires_at = IF(w.closed > 0, utc_timestamp(6) + INTERVAL w.closed MICROSECOND,
                         '1970-01-01 00:00:00'),
       l.done_by = IF(w.done > 0, w.version, l.done_by),
       l.done_at = IF(w.done > 0, utc_timestamp(6), l.done_at),
       l.done_until = IF(w.done > 0, utc_timestamp(6) + INTERVAL w.done MICROSECOND, l.done_until)
 WHERE l.version = w.version AND l.owner IS NOT NULL
)sql";

// Of rows that nobody has. $1: type, id
constexpr std::string_view count_failures = R"sql(
UPDATE json_table($1, '$[*]' COLUMNS (
         lock_type varchar(134) CHARACTER SET ascii PATH '$[0]',
         source_id varchar(510) CHARACTER SET ascii PATH '$[1]')) AS w
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id)
   SET l.failure_count = l.failure_count + 1
 WHERE l.expires_at <= utc_timestamp(6)
)sql";

}  // namespace

std::string mysql_versioned_update(const versioned_table& table, mysql_flavour flavour) {
  std::string text = "concat(entity." + quoted(table.id_column, "the id column") + ")";
  // The text of a number has the collation of the connection and $1 the default of utf8mb4: where
  // these differ, MySQL does not compare them unless one of them is converted.
  if (flavour == mysql_flavour::mysql) text = "CONVERT(" + text + " USING utf8mb4)";
  return with_backticks(versioned_update(table) + " AND " + text + " = $1");
}

mysql_transaction_statements::mysql_transaction_statements(const table_name& table,
                                                           mysql_flavour flavour) {
  const mysql_spelling spelled{table, flavour};
  look_and_settings = spelled.without_waiting(sql::look_and_settings);
  lock_row = spelled.without_waiting(sql::lock_row);
  lock_many = spelled.without_waiting(sql::lock_many);
  insert_unowned = spelled.plain(sql::insert_unowned);
  insert_in_transaction = spelled.without_waiting(sql::insert_unowned);
  prepare_many = spelled.plain(sql::prepare_many);
  prepare_in_transaction = spelled.without_waiting(sql::prepare_many);
  advance = spelled.without_waiting(sql::advance);
  fence_by_writing = spelled.without_waiting(sql::fence_by_writing);
  fence_by_sharing = spelled.skipping_locked(sql::fence_by_sharing);
  release_with = spelled.without_waiting(sql::release_with);
  count_failures = spelled.without_waiting(sql::count_failures);
}

namespace mysql {

const std::string_view read_committed_once = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";
const std::string_view begin = "START TRANSACTION";
// Whatever completion_type says.
const std::string_view commit = "COMMIT AND NO CHAIN NO RELEASE";
const std::string_view roll_back = "ROLLBACK AND NO CHAIN NO RELEASE";
const std::string_view savepoint = "SAVEPOINT rowlock";
const std::string_view roll_back_to_savepoint = "ROLLBACK TO SAVEPOINT rowlock";
const std::string_view release_savepoint = "RELEASE SAVEPOINT rowlock";

}  // namespace mysql

}  // namespace rowlock::sql
