// A store session on MariaDB or MySQL.
#include "mysql/session.hpp"

#include <soci/soci.h>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "mysql/acquire.hpp"
#include "mysql/connecting.hpp"
#include "mysql/executor.hpp"
#include "mysql/history.hpp"
#include "mysql/inspecting.hpp"
#include "mysql/sql/leases.hpp"
#include "mysql/sql/rows.hpp"
#include "mysql/sql/session.hpp"
#include "mysql/table_check.hpp"
#include "store/in_halves.hpp"
#include "store/list_values.hpp"
#include "store/refusal_of.hpp"
#include "store/unless_rejected.hpp"

namespace rowlock::mysql {

namespace {

using std::chrono::microseconds;

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
       static_cast<std::int64_t>(request.limit), request.older_than.count(), skew.count()});
  purge_answer answer;
  const auto purge_some = [&](const std::vector<idle_row>& idle) {
    answer.purged += detail::in_halves(
        std::span{idle}, [&](auto some) { return purge_all(exec, some); },
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

std::vector<row_state> list(executor& exec, const list_request& request) {
  const auto wanted = detail::values_of(request);
  return listed_in(exec.execute(
      sql::list_texts.of(request.sort),
      {bound_value::ascii(wanted.after.type), bound_value::bytes(wanted.after.source_id),
       bound_value::ascii(wanted.last_type),
       request.holder ? bound_value::bytes(*request.holder) : bound_value::null(), wanted.owned,
       wanted.live, detail::limit_of(request)}));
}

class mysql_session final : public detail::session {
 public:
  mysql_session(std::shared_ptr<::soci::session> used, const fit_session& fit,
                const table_name& table)
      : used_{std::move(used)},
        table_{table},
        skew_{fit.skew},
        exec_{fit.session, table_, executor::parameters::bound} {}

  void check_table() override {
    call([&] { mysql::check_table(exec_.session(), exec_.texts(), table_); });
  }
  [[nodiscard]] bool is_usable() const noexcept override {
    return is_usable_ && !exec_.session().shows_transaction();
  }
  [[nodiscard]] bool is_alive() const noexcept override { return is_usable() && exec_.is_alive(); }
  void disconnect() noexcept override { exec_.session().disconnect(); }

 protected:
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    return call([&] {
      switch (mode.how) {
        case acquire_mode::all_or_none:
          return acquiring(requests).run_for_all();
        case acquire_mode::any:
          return acquiring(requests).run_for_any(mode.limit);
        case acquire_mode::each:
          break;
      }
      return acquiring(requests).run();
    });
  }
  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override {
    return call([&] { return renew_now(requests); });
  }
  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    return call([&] { return release_now(requests); });
  }
  handoff_answer do_handoff(const handoff_request& request) override {
    return call([&] { return handoff_now(request); });
  }
  change_answer do_write_note(const note_request& request) override {
    return call([&] { return mysql::write_note(exec_, request); });
  }
  std::vector<std::optional<row_state>> do_read(std::span<const lock_key> keys,
                                                read_mode mode) override {
    return call([&] {
      const auto wanted = list_of(keys);
      if (mode == read_mode::ready_to_commit) return prepare_now(wanted);
      auto states = detail::states_of(exec_.read(wanted));
      if (mode != read_mode::shown) return states;
      return detail::with_users(std::move(states),
                                [&](const lock_key& key) { return used_by(exec_, key); });
    });
  }
  std::vector<row_state> do_list(const list_request& request) override {
    return call([&] { return mysql::list(exec_, request); });
  }
  force_answer do_force_release(const force_request& request) override {
    return call([&] { return mysql::force_release(exec_, request); });
  }
  purge_answer do_purge(const purge_request& request) override {
    return call([&] { return mysql::purge(exec_, request, skew_); });
  }
  history_page do_history(const history_request& request) override {
    return call([&] { return mysql::history(exec_, request); });
  }
  std::size_t do_purge_history(const history_purge_request& request) override {
    return call([&] { return mysql::purge_history(exec_, request); });
  }
  inspection do_inspect() override {
    auto found = server_of(exec_.session());
    found.schema = detail::unless_rejected([&] {
      return call([&] { return schema_version(exec_.session(), exec_.texts(), table_); });
    });
    found.missing_rights = detail::unless_rejected(
        [&] { return call([&] { return missing_rights(exec_, table_); }); });
    found.connection_limit =
        detail::unless_rejected([&] { return call([&] { return connection_limit(exec_); }); });
    return found;
  }
  database_time do_now() override {
    return call([&] {
      const auto shown = exec_.execute(sql::now).rows.at(0).at(0);
      return database_time{std::chrono::microseconds{std::stoll(shown.value())}};
    });
  }
  std::vector<std::string> do_weak_settings() override {
    return call([&] { return weak_settings_in(exec_.execute(sql::settings_of_the_server)); });
  }

 private:
  template <class Work>
  std::invoke_result_t<const Work&> call(const Work& work) {
    exec_.begin_call();
    try {
      return work();
    } catch (const std::exception& thrown) {
      if (needs_new_connection(error_number_of(thrown))) is_usable_ = false;
      throw_as_error(exec_.changed(), &table_);
    }
  }

  acquire_call acquiring(std::span<const acquire_request> requests) {
    return {exec_, requests, skew_,
            [this](std::span<const renew_request> mine) { return renew_now(mine); }};
  }

  std::vector<change_answer> renew_now(std::span<const renew_request> requests) {
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

  std::vector<change_answer> release_now(std::span<const release_request> requests) {
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

  handoff_answer handoff_now(const handoff_request& request) {
    const auto& [ended, next] = request;
    if (!exec_.answers_at_once()) {
      handoff_answer answer{.ended = release_now({&ended, 1}).front()};
      if (answer.ended != change_answer::done) return answer;
      const auto acquired = acquiring({&next, 1}).run().front();
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

  std::vector<std::optional<row_state>> prepare_now(const key_list& keys) {
    auto seen = exec_.read(keys);
    key_list missing;
    json_rows run_out;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!seen[i]) {
        missing.push_back(keys[i]);
      } else if (seen[i]->state.owned && seen[i]->can_be_taken(skew_)) {
        run_out.add(row_of(*keys[i]).number(seen[i]->state.version.number));
      }
    }
    if (missing.empty() && run_out.empty()) return states_of(std::move(seen));
    if (!missing.empty()) create(missing);
    if (!run_out.empty()) {
      const bound_value skew{skew_.count()};
      if (!exec_.answers_at_once() || !exec_.write(sql::prepare_many, {run_out.value(), skew})) {
        exec_.write_unlocked(sql::have_many_at_version, run_out, sql::prepare_many, run_out, skew);
      }
    }
    return states_of(exec_.read(keys));
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
  bool is_usable_ = true;
};

}  // namespace

std::unique_ptr<detail::session> make_session(std::shared_ptr<::soci::session> used,
                                              const soci_options& options) {
  const auto fit = made_fit_for_a_store(*used, options);
  return std::make_unique<mysql_session>(std::move(used), fit, options.table);
}

}  // namespace rowlock::mysql
