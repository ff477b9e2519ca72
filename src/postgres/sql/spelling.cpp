// The rendering of SQL texts for a lock table on PostgreSQL.
#include "postgres/sql/spelling.hpp"

#include "base/limits.hpp"
#include "base/never_destroyed.hpp"
#include "postgres/sql/history.hpp"
#include "postgres/sql/leases.hpp"
#include "postgres/sql/rows.hpp"
#include "postgres/sql/session.hpp"
#include "postgres/sql/sets.hpp"
#include "postgres/sql/transactions.hpp"
#include "store/history_pages.hpp"

namespace rowlock::postgres::sql {

namespace {

// The clock as a version. Not extract(): since PostgreSQL 14 it returns a numeric, which takes
// three times as long. A double holds the microseconds of the next two centuries.
constexpr std::string_view now_us = "(date_part('epoch', clock_timestamp()) * 1000000)::bigint";

// The place and key of a locked row. A ctid identifies a row within one table; in a partition or an
// inheriting table it may be another row. So the key is compared as well, which costs little once
// the ctid has found the row.
constexpr std::string_view row =
    "l.ctid AS row_id, l.lock_type AS row_type, l.source_id AS row_source";

constexpr std::string_view same_row =
    "l.ctid = k.row_id AND l.lock_type = k.row_type AND l.source_id = k.row_source";

// A row as the statement's snapshot has it, and its condition in the same statement's search of the
// rows to lock. PostgreSQL locks the newest version of a row that was changed since the snapshot,
// and checks the conditions again on that. The write would not find this version, so the row must
// not count as locked. A change gives a row another xmin. Its ctid alone does not tell: PostgreSQL
// before 15.15 (14.20, 16.11, 17.7, 18.1) does not check that again.
constexpr std::string_view seen_row = "l.ctid AS row_id, l.xmin AS row_writer";

constexpr std::string_view as_seen =
    "l.ctid = w.row_id AND l.xmin = w.row_writer"
    " AND l.lock_type = w.lock_type AND l.source_id = w.source_id";

// The number of rows written, g.n. If they are some of the keys, a division by zero undoes the
// statement: a trigger has kept the others from being written.
constexpr std::string_view all_or_none =
    "CASE WHEN g.n IN (0, cardinality($1::text[])) THEN g.n ELSE g.n / (g.n - g.n) END";

// True for each element of an array, which has fewer elements than that. PostgreSQL expects that a
// range of unknown values keeps one row in two hundred.
constexpr std::string_view one_place = "w.place BETWEEN 1 AND 1000000000";

constexpr std::string_view next_version = "greatest(l.version + 1, {now_us})";

// Nothing keeps a statement written by hand from an infinite time, with which nothing can be
// computed.
constexpr std::string_view left_us =
    "(extract(epoch FROM greatest('epoch', least('9999-01-01 00:00Z', l.expires_at))"
    " - clock_timestamp()) * 1000000)::bigint";

constexpr std::string_view at_key = "lock_type = $1 AND source_id = $2";

// The row of a lease with owner $3 and version $4, locked; none if another transaction has it.
constexpr std::string_view unlocked_lease = R"sql(l.ctid = (SELECT ctid
                   FROM shared_lock
                  WHERE {at_key} AND owner = $3 AND version = $4::bigint
                    FOR NO KEY UPDATE SKIP LOCKED)
   AND l.lock_type = $1 AND l.source_id = $2)sql";

// The rows of a fence, before any of them is locked.
constexpr std::string_view held_rows = R"sql(held AS MATERIALIZED (
  SELECT {seen_row}, w.*
    FROM unnest($1::text[], $2::text[], $3::bigint[]) AS w (lock_type, source_id, version)
    JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
   WHERE l.version = w.version AND l.owner IS NOT NULL))sql";

// The rows that still have the version of a change which is to be announced.
constexpr std::string_view unchanged_rows = R"sql(
  FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::bigint[]))
       AS w (lock_type, source_id, version)
  JOIN shared_lock l ON l.lock_type = w.lock_type AND l.source_id = w.source_id
 WHERE l.version = w.version)sql";

// A lock of a row, and a change that is not committed, stand in xmax, also when they are over. A
// write of the row by a transaction that had locked it gives it that transaction as xmin and xmax.
constexpr std::string_view is_unlocked = "(l.xmax = 0 OR l.xmax = l.xmin)";

// The columns that a release sets. The last holder and the time of its grant stay, for people.
// done_by is the version of the ended grant, which the row has until then.
constexpr std::string_view as_released = R"sql(owner = NULL,
       expires_at = CASE WHEN k.stay_closed > 0
                         THEN clock_timestamp() + k.stay_closed * interval '1 microsecond'
                         ELSE 'epoch' END,
       version = {next_version},
       ended_at = clock_timestamp(),
       ended_as = CASE WHEN k.failed THEN 'failed' ELSE 'released' END,
       failure_count = l.failure_count + k.failed::integer,
       done_by = CASE WHEN k.done_for IS NULL THEN l.done_by ELSE l.version END,
       done_at = CASE WHEN k.done_for IS NULL THEN l.done_at ELSE clock_timestamp() END,
       done_until = CASE WHEN k.done_for IS NULL THEN l.done_until
                         ELSE clock_timestamp() + k.done_for * interval '1 microsecond' END)sql";

// Notifies waiters of a release, with "type id", if the row is marked as watched.
constexpr std::string_view announcement = R"sql(
          CASE WHEN l.waiting_until > clock_timestamp()
               THEN pg_notify('rowlock_' || 'shared_lock'::regclass::oid,
                              l.lock_type || ' ' || l.source_id) END)sql";

// Notifies other processes of a grant, because they may be about to try for the same row. Only if
// the row is marked as watched.
constexpr std::string_view taking = R"sql(
          CASE WHEN l.waiting_until > clock_timestamp()
               THEN pg_notify('rowlock_' || 'shared_lock'::regclass::oid,
                              concat_ws(' ',
                                '+' || (extract(epoch FROM l.expires_at - clock_timestamp())
                                        * 1000000)::bigint,
                                (extract(epoch FROM l.waiting_until - clock_timestamp())
                                 * 1000000)::bigint,
                                l.lock_type, l.source_id)) END)sql";

// The gate before an insert of a key, and that of each of the missing keys. To look at a gate is to
// take and release it in one expression, which nothing can interrupt.
constexpr std::string_view gate_of_parameters = R"sql(pg_try_advisory_xact_lock(hashtextextended(
                $2::text, hashtextextended($1::text, 'shared_lock'::regclass::bigint))))sql";

constexpr std::string_view gate_of_m = R"sql((SELECT CASE
            WHEN (SELECT count(*) FROM missing) <= 16 THEN pg_try_advisory_xact_lock(gate)
            WHEN pg_try_advisory_lock(gate) THEN pg_advisory_unlock(gate) END
            FROM (SELECT hashtextextended(m.source_id,
                           hashtextextended(m.lock_type, 'shared_lock'::regclass::bigint))
                  OFFSET 0) AS g (gate)))sql";

// The commands for which policies of row-level security let the role see or write rows of the table
// `t.oid`: letters of pg_policy, where * is all.
constexpr std::string_view policies_of_t = R"sql(CASE
         WHEN row_security_active(t.oid)
         THEN (SELECT coalesce(string_agg(polcmd::text, ''), '')
                 FROM pg_policy
                WHERE polrelid = t.oid AND polpermissive
                  AND (0 = ANY (polroles) OR EXISTS (SELECT FROM unnest(polroles) AS role
                                                      WHERE pg_has_role(role, 'USAGE'))))
         ELSE '*' END)sql";

/// Rows of VALUES.
std::string settings_as_rows() {
  std::string rows;
  for (const auto& each : pinned_settings) {
    if (!rows.empty()) rows += ",\n         ";
    rows.append("('").append(each.name).append("', '").append(each.value).append("')");
  }
  return rows;
}

detail::sql_words make_common_placeholders() {
  detail::sql_words words{
      {"all_or_none", std::string{all_or_none}},
      {"announcement", std::string{announcement}},
      {"as_seen", std::string{as_seen}},
      {"as_released", std::string{as_released}},
      {"at_key", std::string{at_key}},
      {"gate_of_m", std::string{gate_of_m}},
      {"gate_of_parameters", std::string{gate_of_parameters}},
      {"grant", std::string{grant}},
      {"granted", std::string{granted}},
      {"held_rows", std::string{held_rows}},
      {"is_free", std::string{is_free}},
      {"is_mine", std::string{is_mine}},
      {"is_unlocked", std::string{is_unlocked}},
      {"left_us", std::string{left_us}},
      {"listed", std::string{listed}},
      {"limit_idle_time", std::string{limit_idle_time}},
      {"next_version", std::string{next_version}},
      {"now_us", std::string{now_us}},
      {"one_place", std::string{one_place}},
      {"pinned", settings_as_rows()},
      {"policies_of_t", std::string{policies_of_t}},
      {"requested", std::string{requested}},
      {"row", std::string{row}},
      {"same_row", std::string{same_row}},
      {"seen_row", std::string{seen_row}},
      {"state", std::string{state}},
      {"taken_rows", std::string{taken_rows}},
      {"taking", std::string{taking}},
      {"transaction_name", std::string{transaction_name}},
      {"unchanged_rows", std::string{unchanged_rows}},
      {"unlocked_lease", std::string{unlocked_lease}},
  };
  detail::add_history(words, {.others = other_events,
                              .grants = grant_events,
                              .last_of_others = last_of_others,
                              .last_of_grants = last_of_grants,
                              .of_one = {of_one_key, newest_grants_of_one},
                              .of_any = {of_any_key, newest_grants_of_any},
                              .words = {{"others_then", std::string{others_then}},
                                        {"granted_then", std::string{granted_then}}}});
  return words;
}

const detail::sql_words& common_placeholders() {
  static const auto& placeholders =
      detail::never_destroyed<const detail::sql_words>(make_common_placeholders());
  return placeholders;
}

}  // namespace

std::string rendered(const postgres_table& table, std::string_view text) {
  detail::check_clock_skew(table.clock_skew);
  const auto skew = std::to_string(table.clock_skew.count());
  const bool is_one_clock = table.clock_skew == std::chrono::milliseconds::zero();
  auto placeholders = common_placeholders();
  placeholders["skew_ms"] = skew;
  placeholders["long_ago"] = is_one_clock
                                 ? "clock_timestamp()"
                                 : "(clock_timestamp() - interval '" + skew + " milliseconds')";
  return table.table.in(detail::with_words(text, placeholders));
}

detail::rendered_sql texts_of(const postgres_table& table) {
  return detail::rendered_sql{[&table](std::string_view text) { return rendered(table, text); }};
}

}  // namespace rowlock::postgres::sql
