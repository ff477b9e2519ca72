// A store session on PostgreSQL.
#include "postgres/session.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/flushed.hpp"
#include "postgres/acquire.hpp"
#include "postgres/executor.hpp"
#include "postgres/history.hpp"
#include "postgres/inspecting.hpp"
#include "postgres/requests.hpp"
#include "postgres/sql/leases.hpp"
#include "postgres/sql/rows.hpp"
#include "postgres/sql/session.hpp"
#include "postgres/sql/transactions.hpp"
#include "postgres/table_check.hpp"
#include "rowlock/error.hpp"
#include "store/list_values.hpp"
#include "store/refusal_of.hpp"
#include "store/unless_rejected.hpp"

namespace rowlock::postgres {

namespace {

using row_states = std::vector<std::optional<row_state>>;

std::vector<changed_row> release_row(executor& exec, const release_request& request) {
  const auto& key = request.key;
  if (only_unsets(request) && !request.never_waits) {
    const auto released = exec.write_unlocked(
        sql::release, bound_values{key.type, key.source_id, request.owner.text,
                                   request.version.number, detail::is_to_be_flushed(request)});
    if (released) return {*released};
  }
  return exec.write_watched(
      sql::release_and_mark,
      bound_values{key.type, key.source_id, request.owner.text, request.version.number,
                   request.failed, stay_closed_in(&request), done_for_in(&request),
                   detail::is_to_be_flushed(request)});
}

std::vector<changed_row> release_rows(executor& exec, const unanswered<release_request>& open) {
  const auto keys = keys_of(open);
  const bool is_flushed = std::ranges::any_of(
      open, [](const release_request* each) { return detail::is_to_be_flushed(*each); });
  return exec.write_watched(
      sql::release_many,
      bound_values{types_of(keys), ids_of(keys), array_of(open, owner_in),
                   array_of(open, version_in), array_of(open, failed_in),
                   array_of(open, stay_closed_in), array_of(open, done_for_in), is_flushed});
}

std::vector<change_answer> release(executor& exec, std::span<const release_request> requests) {
  return change_granted(exec, requests, [&](const unanswered<release_request>& open) {
    auto released = open.size() == 1 ? release_row(exec, *open.front()) : release_rows(exec, open);
    announce(exec, sql::announce, open, released);
    return released;
  });
}

handoff_answer handoff(executor& exec, const handoff_request& request) {
  const auto& ended = request.ended;
  const auto& next = request.next;
  handoff_answer answer;
  const auto send = [&](const unanswered<release_request>& /*open*/) {
    auto done = exec.write(
        sql::handoff, bound_values{ended.key.type, ended.key.source_id, ended.owner.text,
                                   ended.version.number, ended.failed, next.owner.text, next.holder,
                                   ttl_in(&next), text_or_null{next.correlation_id}});
    if (!done.empty()) answer.granted = done.front().version;
    return done;
  };
  answer.ended = change_granted(exec, std::span{&ended, 1}, send).front();
  return answer;
}

change_answer write_note(executor& exec, const note_request& request) {
  const auto send = [&](const unanswered<note_request>& /*open*/) {
    return exec.write(sql::write_note,
                      bound_values{request.key.type, request.key.source_id, request.owner.text,
                                   request.version.number, request.note});
  };
  return change_granted(exec, std::span{&request, 1}, send).front();
}

bool needs_preparing(const std::optional<seen_row>& row, std::chrono::milliseconds skew) {
  return !row || (row->state.owned && row->can_be_taken(skew));
}

row_states prepare(executor& exec, const key_list& wanted) {
  auto seen = exec.read(wanted);
  key_list unfit;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (needs_preparing(seen[i], exec.clock_skew())) unfit.push_back(wanted[i]);
  }
  if (unfit.empty()) return detail::states_of(std::move(seen));
  exec.unless_contended([&] { exec.prepare(unfit); });
  return detail::states_of(exec.read(wanted));
}

row_states watch(executor& exec, const key_list& wanted) {
  auto seen = exec.read(wanted);
  key_list unwatched;
  std::vector<version> versions;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i] || !seen[i]->state.is_live() || seen[i]->is_watched) continue;
    unwatched.push_back(wanted[i]);
    versions.push_back(seen[i]->state.version);
  }
  if (!unwatched.empty()) {
    exec.hint(sql::mark_watched,
              bound_values{types_of(unwatched), ids_of(unwatched),
                           array_of(versions, [](version v) { return v.number; })});
  }
  return detail::states_of(std::move(seen));
}

force_answer force_release(executor& exec, const force_request& request) {
  auto answer = force_answer::busy;
  exec.unless_contended([&] {
    const auto taken = exec.write_watched(sql::force_release,
                                          bound_values{request.key.type, request.key.source_id,
                                                       request.version.number, request.reason});
    if (!taken.empty()) {
      if (taken.front().is_watched) {
        announce(exec, sql::announce, request.key, taken.front().version);
      }
      answer = force_answer::released;
      return;
    }
    const auto seen = exec.read({&request.key}).front();
    const bool is_there = seen && seen->state.version == request.version &&
                          (seen->state.owned || !seen->can_be_taken(exec.clock_skew()));
    if (!is_there) answer = force_answer::stale;
  });
  return answer;
}

lock_key purged_key(const result_set::row& row) {
  return {row.text("lock_type"), row.text("source_id")};
}

purge_answer purge_all(executor& exec, const purge_request& request) {
  const auto after = request.after.value_or(lock_key{});
  const bound_values values{after.type, after.source_id, static_cast<std::int64_t>(request.limit),
                            std::int64_t{request.older_than.count()}};
  const auto result = exec.execute_writing(sql::purge, values, [](const result_set& given) {
    return !given.empty() && given.front().number("purged") > 0;
  });
  if (result.empty()) return {};
  const auto row = result.front();
  purge_answer purged{.purged = static_cast<std::size_t>(row.number("purged"))};
  if (static_cast<std::size_t>(row.number("looked")) == request.limit) {
    purged.last = purged_key(row);
  }
  return purged;
}

/// In halves, where the database refuses to delete a row: so it is found, and all others are
/// deleted.
purge_answer purge(executor& exec, const purge_request& request) {
  purge_answer answer{.last = request.after};
  std::vector<std::size_t> parts{request.limit};  // how many keys each has, the next one last
  while (!parts.empty()) {
    auto part = request;
    part.after = answer.last;
    part.limit = parts.back();
    parts.pop_back();
    purge_answer some;
    if (exec.unless_refused([&] { some = purge_all(exec, part); })) {
      answer.purged += some.purged;
      answer.last = some.last;
    } else if (part.limit > 1) {
      const auto half = part.limit / 2;
      parts.push_back(part.limit - half);
      parts.push_back(half);
      continue;
    } else {
      const auto after = answer.last.value_or(lock_key{});
      const auto next = exec.execute(sql::next_key, bound_values{after.type, after.source_id});
      answer.last.reset();
      if (!next.empty()) answer.refused.push_back(*(answer.last = purged_key(next.front())));
    }
    if (!answer.last) break;  // all rows were examined
  }
  return answer;
}

std::vector<row_state> list(executor& exec, const list_request& request) {
  const auto wanted = detail::values_of(request);
  bound_values values{wanted.after.type, wanted.after.source_id, wanted.last_type};
  if (request.holder) {
    values.append(*request.holder);
  } else {
    values.append(std::optional<std::int64_t>{});
  }
  values.append(wanted.owned);
  values.append(wanted.live);
  // Null for all rows: the server then plans for the whole table, not for the first rows of it.
  values.append(request.limit ? std::optional{detail::limit_of(request)} : std::nullopt);
  std::vector<row_state> owned;
  const auto result = exec.execute(sql::list_texts.of(request.sort), values);
  for (const auto row : result) {
    owned.push_back(
        seen_in(row, {.type = row.text("lock_type"), .source_id = row.text("source_id")}).state);
  }
  return owned;
}

/// Without the fields that the role may not see.
std::string session_text(const result_set::row& row) {
  if (!row.flag("is_known")) return "a transaction whose session is not known";
  if (row.is_null("pid")) return "a prepared transaction: see pg_prepared_xacts";
  std::string text = "pid " + row.text("pid");
  if (const auto name = row.text("application_name"); !name.empty()) text += " (" + name + ')';
  if (!row.is_null("since")) text += ", transaction since " + row.text("since") + " UTC";
  return text;
}

/// The sessions whose transactions hold the row, as text.
std::optional<std::string> used_by(executor& exec, const lock_key& key) {
  const auto result = exec.execute(sql::used_by, bound_values{key.type, key.source_id});
  if (result.empty()) return std::nullopt;
  std::string sessions;
  bool is_one_of_them = false;
  for (const auto row : result) {
    if (!sessions.empty()) sessions += "; ";
    sessions += session_text(row);
    if (row.flag("maybe") && result.size() > 1) is_one_of_them = true;
  }
  return is_one_of_them ? "one of these: " + sessions : sessions;
}

std::vector<std::string> weak_settings(executor& exec) {
  std::vector<std::string> weak;
  const auto result = exec.execute(sql::weak_settings);
  for (const auto row : result) {
    const auto name = row.text("name");
    if (name == "session_replication_role") {
      weak.emplace_back(
          "session_replication_role is replica in this session: the history gets no event of what "
          "it does, and a purge deletes rows to which other tables refer; set "
          "session_replication_role = origin for this role and database");
      continue;
    }
    weak.emplace_back(name)
        .append(
            " is off on this PostgreSQL server: a crash can undo what it acknowledged, a grant "
            "too; set ")
        .append(name)
        .append(" = on");
  }
  return weak;
}

class postgres_session final : public detail::session {
 public:
  postgres_session(std::unique_ptr<own_connection> used, session_options options)
      : connection_{std::move(used)},
        options_{std::move(options)},
        exec_{*connection_, options_.table} {}

  void check_table() override {
    call([&] { postgres::check_table(*connection_, exec_.texts(), table()); });
  }
  [[nodiscard]] bool is_usable() const noexcept override {
    return is_usable_ && connection_->is_idle();
  }
  [[nodiscard]] bool is_alive() const noexcept override { return connection_->is_alive(); }
  void disconnect() noexcept override { connection_->disconnect(); }

 protected:
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    const auto acquire = [&] {
      switch (mode.how) {
        case acquire_mode::all_or_none:
          return acquire_all(exec_, requests);
        case acquire_mode::any:
          return acquire_any(exec_, requests, mode.limit);
        case acquire_mode::each:
          break;
      }
      return postgres::acquire(exec_, found_, requests);
    };
    return call([&] {
      auto answers = acquire();
      refuse_lost_changes(requests, answers, [&](std::span<const acquire_request> one) {
        last_found none;
        return postgres::acquire(exec_, none, one);
      });
      return answers;
    });
  }
  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override {
    return call([&] {
      auto answers = postgres::renew(exec_, requests);
      refuse_lost_changes(requests, answers, [&](std::span<const renew_request> one) {
        return postgres::renew(exec_, one);
      });
      return answers;
    });
  }
  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    return call([&] { return postgres::release(exec_, requests); });
  }
  handoff_answer do_handoff(const handoff_request& request) override {
    return call([&] { return postgres::handoff(exec_, request); });
  }
  change_answer do_write_note(const note_request& request) override {
    return call([&] { return postgres::write_note(exec_, request); });
  }
  row_states do_read(std::span<const lock_key> keys, read_mode mode) override {
    return call([&] {
      const auto wanted = list_of(keys);
      if (mode == read_mode::ready_to_commit) return prepare(exec_, wanted);
      if (mode == read_mode::watched && options_.marks_watched_rows) return watch(exec_, wanted);
      auto states = detail::states_of(exec_.read(wanted));
      if (mode != read_mode::shown) return states;
      return detail::with_users(std::move(states),
                                [&](const lock_key& key) { return used_by(exec_, key); });
    });
  }
  std::vector<row_state> do_list(const list_request& request) override {
    return call([&] { return postgres::list(exec_, request); });
  }
  force_answer do_force_release(const force_request& request) override {
    return call([&] {
      const std::vector answers{postgres::force_release(exec_, request)};
      refuse_lost_changes(std::span{&request, 1}, answers, [&](auto one) {
        return std::vector{postgres::force_release(exec_, one.front())};
      });
      return answers.front();
    });
  }
  purge_answer do_purge(const purge_request& request) override {
    return call([&] { return postgres::purge(exec_, request); });
  }
  history_page do_history(const history_request& request) override {
    return call([&] { return postgres::history(exec_, request); });
  }
  std::size_t do_purge_history(const history_purge_request& request) override {
    return call([&] { return postgres::purge_history(exec_, request); });
  }
  inspection do_inspect() override {
    inspection found =
        call([&] { return inspection{.product = "PostgreSQL", .version = version_of(exec_)}; });
    found.schema = detail::unless_rejected([&] {
      return call([&] { return find_table(*connection_, exec_.texts(), table()).number; });
    });
    found.missing_rights =
        detail::unless_rejected([&] { return call([&] { return missing_rights(exec_); }); });
    found.connection_limit =
        detail::unless_rejected([&] { return call([&] { return connection_limit(exec_); }); });
    return found;
  }
  database_time do_now() override {
    return call([&] {
      return database_time{
          std::chrono::microseconds{exec_.execute(sql::now).front().number("now_us")}};
    });
  }
  std::vector<std::string> do_weak_settings() override {
    return call([&] { return postgres::weak_settings(exec_); });
  }

 private:
  [[nodiscard]] const table_name& table() const noexcept { return options_.table.table; }

  static bool is_busy(const acquire_answer& answer) {
    return answer.status == acquire_status::busy;
  }
  static bool is_busy(force_answer answer) { return answer == force_answer::busy; }
  static bool is_busy(change_answer answer) { return answer == change_answer::busy; }

  /// A row that is busy is tried `again`, and rolled back, while this session has the row and its
  /// gate, so that no other transaction is in the way. If it is still busy, throws `error`
  /// (rejected): the change is lost without an error, and would be each time. Costs nothing where
  /// no policy and no trigger can do that, but one round trip of a session's life. Not after a
  /// change, which would have to be reported.
  template <class Request, class Answer, class Again>
  void refuse_lost_changes(std::span<const Request> requests, const std::vector<Answer>& answers,
                           const Again& again) {
    const auto busy = std::find_if(answers.begin(), answers.end(),
                                   [](const Answer& each) { return is_busy(each); });
    if (busy == answers.end() || exec_.changed() != detail::effects::none) return;
    if (!may_lose_changes_) {
      may_lose_changes_ = exec_.execute(sql::may_lose_changes).front().flag("may_lose_changes");
    }
    if (!*may_lose_changes_) return;
    const auto one = requests.subspan(static_cast<std::size_t>(busy - answers.begin()), 1);
    bool is_lost = false;
    is_usable_ = false;  // until the transaction has ended
    exec_.execute(sql::begin);
    try {
      const auto& key = one.front().key;
      const auto taken =
          exec_.execute(sql::take_row_and_gate, bound_values{key.type, key.source_id});
      is_lost = taken.front().flag("has_gate") && is_busy(again(one).front());
    } catch (const std::exception& thrown) {
      // Another transaction has the row.
      if (connection_->fault_in(thrown).is_lost_connection()) throw;
    }
    exec_.execute(sql::roll_back);
    is_usable_ = true;
    exec_.begin_call();
    if (is_lost) throw_lost_changes(table());
  }

  /// Runs `work`, and throws its exceptions as an `error`.
  template <class Work>
  std::invoke_result_t<const Work&> call(const Work& work) {
    exec_.begin_call();
    try {
      return work();
    } catch (const std::exception& thrown) {
      const auto found = connection_->fault_in(thrown);
      if (found.needs_new_connection()) is_usable_ = false;
      throw_as_error(found, exec_.changed(), &table());
    }
  }

  const std::unique_ptr<own_connection> connection_;
  const session_options options_;
  executor exec_;
  last_found found_;
  bool is_usable_ = true;
  /// None until a row was busy.
  std::optional<bool> may_lose_changes_;
};

}  // namespace

std::unique_ptr<detail::session> make_session(std::unique_ptr<own_connection> used,
                                              session_options options) {
  return std::make_unique<postgres_session>(std::move(used), std::move(options));
}

}  // namespace rowlock::postgres
