// A store session on PostgreSQL.
#include "postgres/session.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/flushed.hpp"
#include "postgres/acquire.hpp"
#include "postgres/executor.hpp"
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
#include "store/server_session.hpp"

namespace rowlock::postgres {

namespace {

using seen_rows = std::vector<std::optional<seen_row>>;

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

/// Without the fields that the role may not see.
std::string session_text(const result_set::row& row) {
  if (!row.flag("is_known")) return "a transaction whose session is not known";
  if (row.is_null("pid")) return "a prepared transaction: see pg_prepared_xacts";
  std::string text = "pid " + row.text("pid");
  if (const auto name = row.text("application_name"); !name.empty()) text += " (" + name + ')';
  if (!row.is_null("since")) text += ", transaction since " + row.text("since") + " UTC";
  return text;
}

class postgres_calls {
 public:
  postgres_calls(std::unique_ptr<own_connection> used, session_options options)
      : connection_{std::move(used)},
        options_{std::move(options)},
        exec_{*connection_, options_.table} {}

  [[nodiscard]] bool is_usable() const noexcept {
    return !is_in_transaction_ && connection_->is_idle();
  }
  [[nodiscard]] bool is_alive() const noexcept { return connection_->is_alive(); }
  void disconnect() noexcept { connection_->disconnect(); }
  void begin() noexcept { exec_.begin_call(); }
  [[nodiscard]] bool needs_new_connection(const std::exception& thrown) const {
    return connection_->fault_in(thrown).needs_new_connection();
  }
  [[noreturn]] void throw_as_error(const std::exception& thrown) const {
    postgres::throw_as_error(connection_->fault_in(thrown), exec_.changed(), &table());
  }
  [[nodiscard]] std::chrono::milliseconds clock_skew() const noexcept { return exec_.clock_skew(); }

  void check_table() { postgres::check_table(*connection_, exec_.texts(), table()); }

  std::vector<acquire_answer> acquire(std::span<const acquire_request> requests,
                                      acquire_mode mode) {
    auto answers = mode.how == acquire_mode::all_or_none ? acquire_all(exec_, requests)
                   : mode.how == acquire_mode::any       ? acquire_any(exec_, requests, mode.limit)
                                                   : postgres::acquire(exec_, found_, requests);
    refuse_lost_changes(requests, answers, [&](std::span<const acquire_request> one) {
      last_found none;
      return postgres::acquire(exec_, none, one);
    });
    return answers;
  }
  std::vector<change_answer> renew(std::span<const renew_request> requests) {
    const auto renew = [&](auto some) { return postgres::renew(exec_, some); };
    auto answers = renew(requests);
    refuse_lost_changes(requests, answers, renew);
    return answers;
  }
  std::vector<change_answer> release(std::span<const release_request> requests) {
    return change_granted(exec_, requests, [&](const unanswered<release_request>& open) {
      auto released =
          open.size() == 1 ? release_row(exec_, *open.front()) : release_rows(exec_, open);
      announce(exec_, sql::announce, open, released);
      return released;
    });
  }
  handoff_answer handoff(const handoff_request& request) {
    const auto& ended = request.ended;
    const auto& next = request.next;
    handoff_answer answer;
    const auto send = [&](const unanswered<release_request>& /*open*/) {
      auto done =
          exec_.write(sql::handoff,
                      bound_values{ended.key.type, ended.key.source_id, ended.owner.text,
                                   ended.version.number, ended.failed, next.owner.text, next.holder,
                                   ttl_in(&next), text_or_null{next.correlation_id}});
      if (!done.empty()) answer.granted = done.front().version;
      return done;
    };
    answer.ended = change_granted(exec_, std::span{&ended, 1}, send).front();
    return answer;
  }
  change_answer write_note(const note_request& request) {
    const auto send = [&](const unanswered<note_request>& /*open*/) {
      return exec_.write(sql::write_note,
                         bound_values{request.key.type, request.key.source_id, request.owner.text,
                                      request.version.number, request.note});
    };
    return change_granted(exec_, std::span{&request, 1}, send).front();
  }

  change_answer ask(const ask_request& request) {
    const auto& key = request.key;
    const auto send = [&](const unanswered<ask_request>& /*open*/) {
      return exec_.write(sql::ask, bound_values{key.type, key.source_id, request.version.number,
                                                request.by, request.reason});
    };
    const auto answer = change_granted(exec_, std::span{&request, 1}, send).front();
    if (answer == change_answer::done) announce(exec_, sql::announce_ask, key, request.version);
    return answer;
  }

  seen_rows read(const key_list& wanted) { return exec_.read(wanted); }
  /// Creates rows, and unsets leases.
  void prepare(const key_list& wanted, const seen_rows& /*seen*/,
               const std::vector<std::size_t>& unfit) {
    key_list keys;
    for (const auto place : unfit) keys.push_back(wanted[place]);
    exec_.unless_contended([&] { exec_.prepare(keys); });
  }
  /// Marks the held rows.
  void watch(const key_list& wanted, const seen_rows& seen) {
    if (!options_.marks_watched_rows) return;
    key_list unwatched;
    std::vector<version> versions;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (!seen[i] || !seen[i]->state.is_live() || seen[i]->is_watched) continue;
      unwatched.push_back(wanted[i]);
      versions.push_back(seen[i]->state.version);
    }
    if (unwatched.empty()) return;
    exec_.hint(sql::mark_watched,
               bound_values{types_of(unwatched), ids_of(unwatched),
                            array_of(versions, [](version v) { return v.number; })});
  }
  /// The sessions whose transactions hold the row, as text.
  std::optional<std::string> used_by(const lock_key& key) {
    const auto result = exec_.execute(sql::used_by, bound_values{key.type, key.source_id});
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

  std::vector<row_state> list(const list_request& request) {
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
    const auto result = exec_.execute(sql::list_texts.of(request.sort), values);
    for (const auto row : result) {
      owned.push_back(
          seen_in(row, {.type = row.text("lock_type"), .source_id = row.text("source_id")}).state);
    }
    return owned;
  }
  force_answer force_release(const force_request& request) {
    const auto release = [&](auto one) { return std::vector{try_to_release(one.front())}; };
    const std::span one{&request, 1};
    const auto answers = release(one);
    refuse_lost_changes(one, answers, release);
    return answers.front();
  }
  /// In halves, where the database refuses to delete a row: so it is found, and all others are
  /// deleted.
  purge_answer purge(const purge_request& request) {
    purge_answer answer{.last = request.after};
    std::vector<std::size_t> parts{request.limit};  // how many keys each has, the next one last
    while (!parts.empty()) {
      auto part = request;
      part.after = answer.last;
      part.limit = parts.back();
      parts.pop_back();
      purge_answer some;
      if (exec_.unless_refused([&] { some = purge_all(exec_, part); })) {
        answer.purged += some.purged;
        answer.last = some.last;
      } else if (part.limit > 1) {
        const auto half = part.limit / 2;
        parts.push_back(part.limit - half);
        parts.push_back(half);
        continue;
      } else {
        const auto after = answer.last.value_or(lock_key{});
        const auto next = exec_.execute(sql::next_key, bound_values{after.type, after.source_id});
        answer.last.reset();
        if (!next.empty()) answer.refused.push_back(*(answer.last = purged_key(next.front())));
      }
      if (!answer.last) break;  // all rows were examined
    }
    return answer;
  }
  history_page history(const history_request& request) { return postgres::history(exec_, request); }
  std::size_t purge_history(const history_purge_request& request) {
    return postgres::purge_history(exec_, request);
  }

  inspection server() { return {.product = "PostgreSQL", .version = version_of(exec_)}; }
  std::optional<int> schema() { return find_table(*connection_, exec_.texts(), table()).number; }
  auto missing_rights() { return postgres::missing_rights(exec_); }
  auto connection_limit() { return postgres::connection_limit(exec_); }
  database_time now() {
    return database_time{
        std::chrono::microseconds{exec_.execute(sql::now).front().number("now_us")}};
  }
  std::vector<std::string> weak_settings() {
    std::vector<std::string> weak;
    const auto result = exec_.execute(sql::weak_settings);
    for (const auto row : result) {
      const auto name = row.text("name");
      if (name == "session_replication_role") {
        weak.emplace_back(
            "session_replication_role is replica in this session: the history gets no event of "
            "what "
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

 private:
  [[nodiscard]] const table_name& table() const noexcept { return options_.table.table; }

  static bool is_busy(const acquire_answer& answer) {
    return answer.status == acquire_status::busy;
  }
  static bool is_busy(force_answer answer) { return answer == force_answer::busy; }
  static bool is_busy(change_answer answer) { return answer == change_answer::busy; }

  force_answer try_to_release(const force_request& request) {
    auto answer = force_answer::busy;
    exec_.unless_contended([&] {
      const auto taken = exec_.write_watched(sql::force_release,
                                             bound_values{request.key.type, request.key.source_id,
                                                          request.version.number, request.reason});
      if (taken.empty()) {
        const auto seen = exec_.read({&request.key}).front();
        answer = detail::busy_or_stale(seen, request, exec_.clock_skew());
        return;
      }
      if (taken.front().is_watched) {
        announce(exec_, sql::announce, request.key, taken.front().version);
      }
      answer = force_answer::released;
    });
    return answer;
  }

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
    is_in_transaction_ = true;
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
    is_in_transaction_ = false;
    exec_.begin_call();
    if (is_lost) throw_lost_changes(table());
  }

  const std::unique_ptr<own_connection> connection_;
  const session_options options_;
  executor exec_;
  last_found found_;
  bool is_in_transaction_ = false;
  /// None until a row was busy.
  std::optional<bool> may_lose_changes_;
};

}  // namespace

std::unique_ptr<detail::session> make_session(std::unique_ptr<own_connection> used,
                                              session_options options) {
  return std::make_unique<detail::server_session<postgres_calls>>(std::move(used),
                                                                  std::move(options));
}

}  // namespace rowlock::postgres
