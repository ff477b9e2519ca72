// Operator calls on MariaDB and MySQL: notes, users, forced releases, purges.
#include "mysql/admin.hpp"

#include <utility>

#include "mysql/sql/leases.hpp"
#include "mysql/sql/rows.hpp"

namespace rowlock::mysql {

namespace {

constexpr std::size_t most_at_once = 1000;  // rows stay locked while a statement runs

/// Returns how many of the rows it has written; waits for no row lock.
std::size_t write(executor& exec, std::string_view have_sql, const json_rows& to_have,
                  std::string_view write_sql, const json_rows& to_write) {
  if (exec.answers_at_once()) {
    if (const auto result = exec.write(write_sql, {to_write.value()})) return result->affected;
    if (to_write.size() == 1) return 0;
  }
  return exec.write_unlocked(have_sql, to_have, write_sql, to_write, 0).affected;
}

std::size_t purge_all(executor& exec, const json_rows& idle) {
  return write(exec, sql::have_many_at_version, idle, sql::purge_many, idle);
}

}  // namespace

change_answer write_note(executor& exec, const note_request& request) {
  const auto granted = row_of(request.key).hex(request.owner.text).number(request.version.number);
  json_rows to_have;
  to_have.add(granted);
  json_rows to_write;
  to_write.add(json_rows::row{granted}.hex(request.note));
  if (write(exec, sql::have_many_granted, to_have, sql::write_note, to_write) == 1) {
    return change_answer::done;
  }
  return detail::busy_or_lost(exec.read({&request.key}).front(), request);
}

std::optional<std::string> used_by(executor& exec, const lock_key& key) {
  if (!exec.read({&key}).front() || exec.is_free(key)) return std::nullopt;
  return "a transaction; SHOW ENGINE INNODB STATUS lists those that are open";
}

force_answer force_release(executor& exec, const force_request& request) {
  const auto at_version = row_of(request.key).number(request.version.number);
  json_rows to_have;
  to_have.add(at_version);
  json_rows to_write;
  to_write.add(json_rows::row{at_version}.hex(request.reason));
  if (write(exec, sql::have_many_at_version, to_have, sql::force_release, to_write) == 1) {
    return force_answer::released;
  }
  const auto seen = exec.read({&request.key}).front();
  const bool is_taken = seen && (seen->state.owned || seen->state.is_live());
  return is_taken && seen->state.version == request.version ? force_answer::busy
                                                            : force_answer::stale;
}

purge_answer purge(executor& exec, const purge_request& request, std::chrono::microseconds skew) {
  const auto after = request.after.value_or(lock_key{});
  const auto found = exec.execute(
      sql::rows_to_purge,
      {bound_value::ascii(after.type), bound_value::bytes(after.source_id),
       static_cast<std::int64_t>(request.at_most), request.older_than.count(), skew.count()});
  purge_answer answer;
  json_rows idle;
  for (const auto& row : found.rows) {
    answer.last = lock_key{row.at(0).value(), row.at(1).value()};
    if (row.at(3) != "1") continue;
    idle.add(row_of(*answer.last).number(std::stoll(row.at(2).value())));
    if (idle.size() < most_at_once) continue;
    answer.purged += purge_all(exec, std::exchange(idle, {}));
  }
  if (!idle.empty()) answer.purged += purge_all(exec, idle);
  if (found.rows.size() < request.at_most) answer.last.reset();
  return answer;
}

}  // namespace rowlock::mysql
