// The mapping of PostgreSQL failures to errors.
#include "postgres/fault.hpp"

#include <algorithm>
#include <initializer_list>
#include <new>

#include "rowlock/error.hpp"
#include "store/schema_check.hpp"

namespace rowlock::postgres {

namespace {

bool is_one_of(std::string_view state, std::initializer_list<std::string_view> states) {
  return std::find(states.begin(), states.end(), state) != states.end();
}

struct meaning {
  errc code;
  std::string message;
};

constexpr const char* aborted_before =
    "the transaction was aborted by an earlier error, which the callback may have swallowed, and "
    "nothing of it is kept: roll it back, then begin another one; let such an exception leave the "
    "callback, or put a statement that may fail into a savepoint";

constexpr const char* see_the_details =
    ": see the nested exception or, where that could show a value, the server's log";

std::string how_to_grant(const table_name& table) {
  const auto name = table.in("shared_lock");
  const auto fence = table.in("shared_lock_fence") + "(text, text, bigint, text, text)";
  return ": run `GRANT SELECT ON " + name + " TO ...; GRANT SELECT ON " +
         table.in("shared_lock_schema") +
         " TO ...` for the role of this connection, which needs USAGE on their schema too; if it "
         "does more than read, also `GRANT SELECT, INSERT, UPDATE ON " +
         name + " TO ...; GRANT EXECUTE ON FUNCTION " + table.in("shared_lock_lock") +
         "(text[], text[], integer, boolean, integer), " + table.in("shared_lock_try") +
         "(text, text, integer), " + fence +
         " TO ...`; if it only fences, `GRANT UPDATE (fence_count) ON " + name +
         " TO ...; GRANT EXECUTE ON FUNCTION " + fence +
         " TO ...`; if it purges, `GRANT DELETE, UPDATE (fence_count) ON " + name +
         " TO ...`; and if it reads the history, `GRANT SELECT ON " +
         table.in("shared_lock_event") + " TO ...`";
}

meaning rejected_meaning(std::string_view state, const table_name* lock_table,
                         std::string_view other_table) {
  const auto says = [](const std::string& message) { return meaning{errc::rejected, message}; };
  const std::string shown_state = " (SQLSTATE " + std::string{state} + ")";
  meaning refuses = says("PostgreSQL refuses" + shown_state + see_the_details);
  if (state == "55000") {
    const std::string history =
        lock_table == nullptr ? "" : ", for the history " + lock_table->in("shared_lock_event");
    return says("PostgreSQL refuses to change a table in the state that it is in" + shown_state +
                ": if a publication sends its changes and it has no replica identity, run `ALTER "
                "TABLE ... REPLICA IDENTITY FULL`" +
                history + "; see the nested exception");
  }
  // No plan for ON CONFLICT without the key; a statement for one row that found two.
  if (lock_table != nullptr && is_one_of(state, {"42P10", "21000"})) {
    return says("table " + lock_table->text() +
                " lacks the primary key (lock_type, source_id), so a key may have two rows: "
                "compare it with the migrations of rowlock");
  }
  if (!is_one_of(state.substr(0, 2), {"28", "3D", "3F", "42"})) return refuses;
  if (lock_table == nullptr) {
    const std::string name = other_table.empty() ? "" : " " + std::string{other_table};
    if (state == "42501") {
      return says(
          "no privilege on table" + name +
          " or its schema: GRANT SELECT, UPDATE on it (FOR UPDATE needs both), and USAGE on "
          "the schema, to the role of this connection; and USAGE ON LANGUAGE plpgsql, if that was "
          "revoked");
    }
    if (state == "42P01") {
      return says("there is no table" + name + shown_state +
                  ": create it, or name its schema if the search_path lacks that");
    }
    if (state == "42703") {
      return says("the table" + name + " lacks a column that the call names" + shown_state +
                  see_the_details);
    }
    return says("PostgreSQL refuses the table" + name + ", its columns or our access to it" +
                shown_state + see_the_details);
  }
  const auto& table = *lock_table;
  if (state == "42501")
    return says(
        "no privilege on table " + table.text() + ", or on one that belongs to it" +
        how_to_grant(table) +
        ". If the server's own message names another table, a trigger uses that one: grant the "
        "privilege on it to the owner of the trigger's function if that is SECURITY "
        "DEFINER, else to the role of this connection");
  if (is_one_of(state, {"42P01", "42703", "42883"})) {
    const std::string of_functions =
        state == "42883" ? "; if its tables are there without their functions, as after a dump of "
                           "the tables alone, create these as `rowlock migrate --print --table " +
                               table.text() + " postgresql://` shows them"
                         : "";
    return says("table " + table.text() + " or a part of it is missing: " +
                detail::how_to_migrate(detail::some_url, table) + of_functions);
  }
  if (state == "3F000") {
    return says("the schema of table " + table.text() + " is missing: create it, then migrate");
  }
  return refuses;
}

meaning unavailable_meaning(std::string_view state) {
  const auto says = [](const std::string& message) { return meaning{errc::unavailable, message}; };
  if (state == "25006") {
    return says(
        "the server is read-only, a standby perhaps: connect to the primary; or the transaction is "
        "(default_transaction_read_only, SET TRANSACTION READ ONLY): begin one that may write");
  }
  if (state == "57014") return says("PostgreSQL cancelled the statement: it took too long");
  if (state == "55P03") {
    return says(
        "another session locks the whole table, or a partition of it (ALTER TABLE, LOCK TABLE and "
        "the like; pg_locks shows it), longer than lock_timeout allows: try again when that is "
        "over");
  }
  if (is_one_of(state, {"40001", "40P01"})) {
    return says("a concurrent transaction was in the way: try again");
  }
  if (state == "53200") {
    return says(
        "PostgreSQL is out of memory (SQLSTATE 53200); if that is its table of locks, see the "
        "nested exception, raise max_locks_per_transaction or use fewer keys in a transaction");
  }
  if (state.starts_with("53")) {
    return says("PostgreSQL is out of a resource (SQLSTATE " + std::string{state} + ")");
  }
  return says("PostgreSQL failed" +
              (state.empty() ? "" : " (SQLSTATE " + std::string{state} + ")"));
}

/// By SQLSTATE class: transactions in a wrong state, conflicts, lack of a resource, objects in use
/// (but not a table in the wrong state, 55000), interventions, system errors, internal errors, and
/// failures without SQLSTATE. All others would happen again, including those that an application's
/// functions make up.
bool may_pass(std::string_view state) {
  return state.empty() ||
         (is_one_of(state.substr(0, 2), {"08", "25", "40", "53", "55", "57", "58", "72", "XX"}) &&
          state != "55000");
}

meaning meaning_of(const fault& found, const table_name* table, std::string_view other_table) {
  const std::string_view state = found.sqlstate;
  if (state == "25P02") return {errc::misuse, aborted_before};
  if (found.is_misuse) {
    return {errc::misuse,
            "the transaction or its connection cannot be used now, see the nested "
            "exception: is it finished, or is something else open on it?"};
  }
  if (state == "22012" && table != nullptr) {
    return {errc::rejected,
            "some rows of a set were written and others were not, so all of it was undone: a "
            "trigger on table " +
                table->text() + " keeps rows from being changed; drop it"};
  }
  if (state.starts_with("22") || state.starts_with("23")) {
    return {errc::misuse, "PostgreSQL does not take a value (SQLSTATE " + std::string{state} + ")"};
  }
  if (found.is_lost_connection()) {
    return {errc::unavailable, "the connection to PostgreSQL was lost"};
  }
  return may_pass(state) ? unavailable_meaning(state) : rejected_meaning(state, table, other_table);
}

/// 42501 stands for a missing privilege, and for a policy that refuses a row. Only the server's
/// text tells them apart.
bool is_by_a_policy(std::string_view state, std::string_view text) {
  return state == "42501" && text.find("row-level security") != std::string_view::npos;
}

meaning meaning_of_policy(const table_name* lock_table, std::string_view other_table) {
  const std::string name = lock_table == nullptr ? std::string{other_table} : lock_table->text();
  return {
      errc::rejected,
      "row-level security" + (name.empty() ? "" : " of table " + name) +
          " refuses the row to the role of this connection: as the owner, CREATE POLICY for "
          "SELECT, INSERT and UPDATE that lets the role see and write every row that it uses, or "
          "ALTER TABLE ... DISABLE ROW LEVEL SECURITY"};
}

bool is_name_char(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// 32 hexadecimal digits at the beginning of a name, not at its end.
bool holds_an_owner(std::string_view text) {
  std::size_t digits = 0;
  bool is_in_name = false;
  for (const char c : text) {
    const bool is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    digits = is_digit && (digits > 0 || !is_in_name) ? digits + 1 : 0;
    if (digits == 32) return true;
    is_in_name = is_name_char(c);
  }
  return false;
}

/// The text of an error about a value may hold a row, and that of a RAISE anything. With
/// log_parameter_max_length_on_error on the server, any text may hold all bound values.
bool may_show_values(std::string_view state, const std::string& text) {
  return state.starts_with("22") || state.starts_with("23") || state.starts_with("P0") ||
         text.find("$1 = '") != std::string::npos || holds_an_owner(text);
}

}  // namespace

bool fault::is_lost_connection() const {
  return is_connection_dead || sqlstate.starts_with("08") || sqlstate.starts_with("57P") ||
         is_one_of(sqlstate, {"25P03", "40003"});
}

bool fault::needs_new_connection() const { return is_lost_connection() || sqlstate == "25006"; }

bool fault::is_conflict() const { return is_one_of(sqlstate, {"40001", "40P01"}); }

bool fault::is_deadlock() const { return sqlstate == "40P01"; }

bool fault::is_lock_timeout() const { return sqlstate == "55P03"; }

bool fault::is_about_a_row() const {
  const std::string_view kind = std::string_view{sqlstate}.substr(0, 2);
  return !may_pass(sqlstate) && sqlstate != "55000" &&
         !is_one_of(kind, {"0A", "26", "28", "3D", "3F", "42", "54"});
}

bool fault::is_prepared_statement_astray() const { return is_one_of(sqlstate, {"26000", "42P05"}); }

bool fault::is_plan_outdated() const { return sqlstate == "0A000"; }

void throw_as_error(const fault& found, effects had, const table_name* lock_table,
                    std::string_view other_table) {
  try {
    throw;
  } catch (const error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& thrown) {
    auto means = is_by_a_policy(found.sqlstate, thrown.what())
                     ? meaning_of_policy(lock_table, other_table)
                     : meaning_of(found, lock_table, other_table);
    if (had == effects::made && means.code == errc::unavailable) {
      means = {errc::outcome_unknown, "a part of the call is done, then: " + means.message};
    } else if (had == effects::possible && found.is_lost_connection()) {
      means = {errc::outcome_unknown,
               "the connection to PostgreSQL was lost before the answer came: ask again"};
    }
    if (may_show_values(found.sqlstate, thrown.what())) throw error{means.code, means.message};
    std::throw_with_nested(error{means.code, means.message});
  }
}

void throw_lost_changes(const table_name& table) {
  throw error{errc::rejected,
              "a row of table " + table.text() +
                  " can be read, and no other transaction has it, but it cannot be changed: "
                  "row-level security hides it from changes by the role of this connection (as the "
                  "owner, CREATE POLICY for INSERT and UPDATE that lets the role write every row "
                  "that it uses), or a trigger BEFORE INSERT or UPDATE drops them (let it not "
                  "RETURN NULL)"};
}

void throw_aborted_before() { throw error{errc::misuse, aborted_before}; }

void throw_failed_commit(const fault& found) {
  if (!found.is_lost_connection()) throw;
  std::throw_with_nested(error{errc::outcome_unknown,
                               "the connection to PostgreSQL was lost during the commit: look "
                               "whether the work is there before doing it again"});
}

}  // namespace rowlock::postgres
