// How a statement is written for a lock table on PostgreSQL.
#include "postgres/sql/spelling.hpp"

namespace rowlock::sql {

namespace {

// Not extract(), which has answered with a numeric since PostgreSQL 14: that takes three times as
// long, and a double holds the microseconds of the next two centuries.
constexpr std::string_view now_us = "(date_part('epoch', clock_timestamp()) * 1000000)::bigint";

// A ctid is one row of one table; in a partition of it, or an heir, it may be another one. So the
// key is compared as well, which costs little where the ctid finds the row.
constexpr std::string_view row =
    "l.ctid AS row_id, l.lock_type AS row_type, l.source_id AS row_source";
constexpr std::string_view same_row =
    "l.ctid = k.row_id AND l.lock_type = k.row_type AND l.source_id = k.row_source";

// The version with which the work was done is the one that the row has until then.
constexpr std::string_view as_released = R"sql(owner = NULL, acquired_at = NULL,
       holder = CASE WHEN k.stay_closed > 0 THEN l.holder END,
       expires_at = CASE WHEN k.stay_closed > 0
                         THEN clock_timestamp() + k.stay_closed * interval '1 microsecond'
                         ELSE 'epoch' END,
       version = greatest(l.version + 1, {now_us}),
       done_by = CASE WHEN k.done_for IS NULL THEN l.done_by ELSE l.version END,
       done_at = CASE WHEN k.done_for IS NULL THEN l.done_at ELSE clock_timestamp() END,
       done_until = CASE WHEN k.done_for IS NULL THEN l.done_until
                         ELSE clock_timestamp() + k.done_for * interval '1 microsecond' END)sql";

constexpr std::string_view announcement = R"sql(
          CASE WHEN l.waiting_until > clock_timestamp()
               THEN pg_notify('rowlock_' || 'shared_lock'::regclass::oid,
                              l.lock_type || ' ' || l.source_id) END)sql";

// Of a statement that grants rows, to those who may be about to ask for them too.
constexpr std::string_view taking = R"sql(
          CASE WHEN waiting_until > clock_timestamp()
               THEN pg_notify('rowlock_' || 'shared_lock'::regclass::oid,
                              concat_ws(' ',
                                '+' || (extract(epoch FROM expires_at - clock_timestamp())
                                        * 1000000)::bigint,
                                (extract(epoch FROM waiting_until - clock_timestamp())
                                 * 1000000)::bigint,
                                lock_type, source_id)) END)sql";

// That of the key is held until the transaction ends. The one that calls of `shared_lock_lock` for
// many keys share is only tried: released in the same expression, it refuses nobody for longer.
constexpr std::string_view gate = R"sql(CASE
         WHEN pg_try_advisory_xact_lock(hashtextextended(
                {id}, hashtextextended({type}, 'shared_lock'::regclass::bigint)))
         THEN CASE WHEN pg_try_advisory_lock({shared_gate})
                   THEN pg_advisory_unlock({shared_gate}) END END)sql";
constexpr std::string_view shared_gate =
    R"sql(hashtextextended('shared', 'shared_lock'::regclass::bigint)
                # (((hashtextextended({type}, 0) & 7) << 3) | (hashtextextended({id}, 0) & 7)))sql";

}  // namespace

void fill(std::string& sql, std::string_view word, std::string_view meaning) {
  for (auto at = sql.find(word); at != std::string::npos; at = sql.find(word, at)) {
    sql.replace(at, word.size(), meaning);
    at += meaning.size();
  }
}

std::string gated(std::string_view sql, std::string_view type, std::string_view id) {
  std::string text{sql};
  fill(text, "{gate}", gate);
  fill(text, "{shared_gate}", shared_gate);
  fill(text, "{type}", type);
  fill(text, "{id}", id);
  return text;
}

std::string in_postgres(const postgres_table& table, std::string_view sql) {
  const auto skew = std::to_string(table.clock_skew.count());
  const bool is_one_clock = table.clock_skew == std::chrono::milliseconds::zero();
  std::string text{sql};
  fill(text, "{as_released}", as_released);
  fill(text, "{announcement}", announcement);
  fill(text, "{taking}", taking);
  fill(text, "{now_us}", now_us);
  fill(text, "{row}", row);
  fill(text, "{same_row}", same_row);
  text = table.table.in(text);
  fill(text, "{skew_ms}", skew);
  fill(text, "{long_ago}",
       is_one_clock ? "clock_timestamp()"
                    : "(clock_timestamp() - interval '" + skew + " milliseconds')");
  return text;
}

}  // namespace rowlock::sql
