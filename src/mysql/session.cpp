// A store session on MariaDB or MySQL.
#include "mysql/session.hpp"

#include <soci/soci.h>

#include <exception>
#include <optional>
#include <utility>

#include "mysql/acquire.hpp"
#include "mysql/connecting.hpp"
#include "mysql/executor.hpp"
#include "mysql/inspecting.hpp"
#include "mysql/sql/leases.hpp"
#include "mysql/sql/rows.hpp"
#include "mysql/sql/session.hpp"
#include "mysql/table_check.hpp"
#include "store/in_halves.hpp"
#include "store/list_values.hpp"
#include "store/refusal_of.hpp"
#include "store/server_session.hpp"

namespace rowlock::mysql {

namespace {

using std::chrono::microseconds;
using seen_rows = std::vector<std::optional<seen_row>>;

template <class Request>
key_list keys_of(std::span<const Request> requests) {
  key_list keys;
  keys.reserve(requests.size());
  for (const auto& request : requests) keys.push_back(&request.key);
  return keys;
}

template <class Request>
json_rows::row granted_row(const Request& request) {
  auto row = row_of(request.key);
  row.hex(request.owner.text).number(request.version.number);
  return row;
}

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

struct idle_row {
  lock_key key;
  std::int64_t version;
};

/// Deletes the rows and returns how many. None if one of them may not be deleted: that fails the
/// statement.
std::optional<std::size_t> purge_all(executor& exec, std::span<const idle_row> idle) {
  json_rows rows;
  for (const auto& [key, version] : idle) rows.add(row_of(key).number(version));
  try {
    return write(exec, sql::have_many_at_version, rows, sql::purge_many, rows);
  } catch (const std::exception& thrown) {
    if (!is_kept_by_another(error_number_of(thrown))) throw;
    return std::nullopt;
  }
}

class mysql_calls {
 public:
  mysql_calls(std::shared_ptr<::soci::session> used, const fit_session& fit,
              const table_name& table)
      : used_{std::move(used)},
        table_{table},
        skew_{fit.skew},
        exec_{fit.session, table_, executor::parameters::bound} {}

  [[nodiscard]] bool is_usable() const noexcept { return !exec_.session().shows_transaction(); }
  [[nodiscard]] bool is_alive() const noexcept { return exec_.is_alive(); }
  void disconnect() noexcept { exec_.session().disconnect(); }
  void begin() noexcept { exec_.begin_call(); }
  [[nodiscard]] static bool needs_new_connection(const std::exception& thrown) {
    return mysql::needs_new_connection(error_number_of(thrown));
  }
  [[noreturn]] void throw_as_error(const std::exception& /*thrown*/) const {
    mysql::throw_as_error(exec_.changed(), &table_);
  }
  [[nodiscard]] microseconds clock_skew() const noexcept { return skew_; }

  void check_table() { mysql::check_table(exec_.session(), exec_.texts(), table_); }

  std::vector<acquire_answer> acquire(std::span<const acquire_request> requests,
                                      acquire_mode mode) {
    return mysql::acquire(exec_, requests, mode, skew_, [this](auto mine) { return renew(mine); });
  }

  std::vector<change_answer> renew(std::span<const renew_request> requests) {
    std::vector<change_answer> answers(requests.size(), change_answer::done);
    if (requests.size() == 1 && exec_.answers_at_once()) {
      const auto& [key, owner, granted, ttl] = requests.front();
      const auto result =
          exec_.write(sql::renew, {bound_value::ascii(key.type), bound_value::bytes(key.source_id),
                                   bound_value::ascii(owner.text), granted.number, ttl.count()});
      if (result && result->affected == 1) return answers;
      return unchanged(requests);
    }
    json_rows to_have;
    json_rows to_write;
    for (const auto& request : requests) {
      to_have.add(granted_row(request));
      to_write.add(granted_row(request).number(request.ttl.count()));
    }
    if (exec_.answers_at_once()) {
      if (const auto result = exec_.write(sql::renew_many, {to_write.value()})) {
        if (result->affected == requests.size()) return answers;
        // The statement has renewed all rows that are as they were granted.
        const auto seen = exec_.read(keys_of(requests));
        for (std::size_t i = 0; i < requests.size(); ++i) {
          if (detail::busy_or_lost(seen[i], requests[i]) == change_answer::lost) {
            answers[i] = change_answer::lost;
          }
        }
        return answers;
      }
    }
    return unchanged(
        requests,
        exec_.write_unlocked(sql::have_many_granted, to_have, sql::renew_many, to_write, 0).places);
  }

  std::vector<change_answer> release(std::span<const release_request> requests) {
    if (requests.size() == 1 && exec_.answers_at_once()) {
      const auto result = release_row(requests.front());
      if (result && result->affected == 1) return {change_answer::done};
      return unchanged(requests);
    }
    // A released row does not show its last owner, so the rows are found first.
    json_rows to_have;
    json_rows to_write;
    for (const auto& request : requests) {
      to_have.add(granted_row(request));
      to_write.add(with_what_stays(granted_row(request).number(request.failed ? 1 : 0), request));
    }
    return unchanged(
        requests,
        exec_.write_unlocked(sql::have_many_granted, to_have, sql::release_many, to_write, 0)
            .places);
  }

  handoff_answer handoff(const handoff_request& request) {
    const auto& [ended, next] = request;
    if (!exec_.answers_at_once()) {
      handoff_answer answer{.ended = release({&ended, 1}).front()};
      if (answer.ended != change_answer::done) return answer;
      const auto acquired = acquire({&next, 1}, {}).front();
      if (acquired.status == acquire_status::granted) answer.granted = acquired.version;
      return answer;
    }
    const auto result = exec_.write(
        sql::handoff,
        {bound_value::ascii(ended.key.type), bound_value::bytes(ended.key.source_id),
         bound_value::ascii(ended.owner.text), ended.version.number, ended.failed ? 1 : 0,
         bound_value::ascii(next.owner.text), bound_value::utf8(next.holder), next.ttl.count(),
         bound_value::utf8_or_null(next.correlation_id)});
    if (!result || result->affected == 0) {
      return {.ended = unchanged(std::span{&ended, 1}).front()};
    }
    handoff_answer answer{.ended = change_answer::done};
    if (result->insert_id != 0) {
      answer.granted = version{static_cast<std::int64_t>(result->insert_id)};
      return answer;
    }
    // A trigger of the table executes statements; their insert id is returned.
    const auto seen = exec_.read({&next.key}).front();
    if (seen && seen->is_of(next.owner)) answer.granted = seen->state.version;
    return answer;
  }

  change_answer write_note(const note_request& request) {
    const auto granted = row_of(request.key).hex(request.owner.text).number(request.version.number);
    json_rows to_have;
    to_have.add(granted);
    json_rows to_write;
    to_write.add(json_rows::row{granted}.hex(request.note));
    if (write(exec_, sql::have_many_granted, to_have, sql::write_note, to_write) == 1) {
      return change_answer::done;
    }
    return detail::busy_or_lost(exec_.read({&request.key}).front(), request);
  }

  change_answer ask(const ask_request& request) {
    const auto at_version = row_of(request.key).number(request.version.number);
    json_rows to_have;
    to_have.add(at_version);
    json_rows to_write;
    to_write.add(json_rows::row{at_version}.hex(request.by).hex(request.reason));
    if (write(exec_, sql::have_many_at_version, to_have, sql::ask, to_write) == 1) {
      return change_answer::done;
    }
    return detail::busy_or_lost(exec_.read({&request.key}).front(), request);
  }

  seen_rows read(const key_list& wanted) { return exec_.read(wanted); }
  /// Creates rows, and unsets leases.
  void prepare(const key_list& wanted, const seen_rows& seen,
               const std::vector<std::size_t>& unfit) {
    key_list missing;
    json_rows run_out;
    for (const auto place : unfit) {
      if (seen[place]) {
        run_out.add(row_of(*wanted[place]).number(seen[place]->state.version.number));
      } else {
        missing.push_back(wanted[place]);
      }
    }
    if (!missing.empty()) create(missing);
    if (run_out.empty()) return;
    const bound_value skew{skew_.count()};
    if (!exec_.answers_at_once() || !exec_.write(sql::prepare_many, {run_out.value(), skew})) {
      exec_.write_unlocked(sql::have_many_at_version, run_out, sql::prepare_many, run_out, skew);
    }
  }
  /// Does nothing: releases are not announced.
  void watch(const key_list& /*wanted*/, const seen_rows& /*seen*/) {}
  std::optional<std::string> used_by(const lock_key& key) {
    if (!exec_.read({&key}).front() || exec_.is_free(key)) return std::nullopt;
    return "a transaction; SHOW ENGINE INNODB STATUS lists those that are open";
  }

  std::vector<row_state> list(const list_request& request) {
    const auto wanted = detail::values_of(request);
    return listed_in(exec_.execute(
        sql::list_texts.of(request.sort),
        {bound_value::ascii(wanted.after.type), bound_value::bytes(wanted.after.source_id),
         bound_value::ascii(wanted.last_type),
         request.holder ? bound_value::bytes(*request.holder) : bound_value::null(), wanted.owned,
         wanted.live, detail::limit_of(request)}));
  }
  force_answer force_release(const force_request& request) {
    const auto at_version = row_of(request.key).number(request.version.number);
    json_rows to_have;
    to_have.add(at_version);
    json_rows to_write;
    to_write.add(json_rows::row{at_version}.hex(request.reason));
    if (write(exec_, sql::have_many_at_version, to_have, sql::force_release, to_write) == 1) {
      return force_answer::released;
    }
    return detail::busy_or_stale(exec_.read({&request.key}).front(), request);
  }
  purge_answer purge(const purge_request& request) {
    const auto after = request.after.value_or(lock_key{});
    const auto found = exec_.execute(
        sql::rows_to_purge,
        {bound_value::ascii(after.type), bound_value::bytes(after.source_id),
         static_cast<std::int64_t>(request.limit), request.older_than.count(), skew_.count()});
    purge_answer answer;
    const auto purge_some = [&](const std::vector<idle_row>& idle) {
      answer.purged += detail::in_halves(
          std::span{idle}, [&](auto some) { return purge_all(exec_, some); },
          [&](const idle_row& row) { answer.refused.push_back(row.key); });
    };
    std::vector<idle_row> idle;
    for (const auto& row : found.rows) {
      answer.last = lock_key{row.at(0).value(), row.at(1).value()};
      if (row.at(3) != "1") continue;
      idle.push_back({*answer.last, std::stoll(row.at(2).value())});
      if (idle.size() < most_at_once) continue;
      purge_some(std::exchange(idle, {}));
    }
    purge_some(idle);
    if (found.rows.size() < request.limit) answer.last.reset();
    return answer;
  }
  history_page history(const history_request& request) { return mysql::history(exec_, request); }
  std::size_t purge_history(const history_purge_request& request) {
    return mysql::purge_history(exec_, request);
  }

  inspection server() { return server_of(exec_.session()); }
  std::optional<int> schema() { return schema_version(exec_.session(), exec_.texts(), table_); }
  auto missing_rights() { return mysql::missing_rights(exec_, table_); }
  auto connection_limit() { return mysql::connection_limit(exec_); }
  database_time now() {
    const auto shown = exec_.execute(sql::now).rows.at(0).at(0);
    return database_time{microseconds{std::stoll(shown.value())}};
  }
  std::vector<std::string> weak_settings() {
    return weak_settings_in(exec_.execute(sql::settings_of_the_server));
  }

 private:
  std::optional<result_set> release_row(const release_request& request) {
    const auto& [key, owner, granted, failed, closed, done_for, durable, never_waits] = request;
    if (!failed && closed.count() == 0 && !done_for) {
      return exec_.write(sql::release,
                         {bound_value::ascii(key.type), bound_value::bytes(key.source_id),
                          bound_value::ascii(owner.text), granted.number});
    }
    return exec_.write(sql::release_and_mark,
                       {bound_value::ascii(key.type), bound_value::bytes(key.source_id),
                        bound_value::ascii(owner.text), granted.number, failed ? 1 : 0,
                        closed.count(), done_for.value_or(microseconds::zero()).count()});
  }

  /// The answers after a statement has changed the rows at `places` and no other.
  template <class Request>
  std::vector<change_answer> unchanged(std::span<const Request> requests,
                                       const std::vector<std::size_t>& places = {}) {
    std::vector<change_answer> answers(requests.size(), change_answer::lost);
    for (const auto place : places) answers[place] = change_answer::done;
    if (places.size() == requests.size()) return answers;
    const auto seen = exec_.read(keys_of(requests));
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (answers[i] != change_answer::done) {
        answers[i] = detail::busy_or_lost(seen[i], requests[i]);
      }
    }
    return answers;
  }

  void create(const key_list& missing) {
    if (missing.size() > 1 && exec_.write(sql::insert_many_unowned, {rows_of(missing).value()})) {
      return;
    }
    for (const auto* key : missing) {
      exec_.write(sql::insert_unowned,
                  {bound_value::ascii(key->type), bound_value::bytes(key->source_id)});
    }
  }

  const std::shared_ptr<::soci::session> used_;
  const table_name& table_;
  const microseconds skew_;
  executor exec_;
};

}  // namespace

std::unique_ptr<detail::session> make_session(std::shared_ptr<::soci::session> used,
                                              const soci_options& options) {
  const auto fit = made_fit_for_a_store(*used, options);
  return std::make_unique<detail::server_session<mysql_calls>>(std::move(used), fit, options.table);
}

}  // namespace rowlock::mysql
