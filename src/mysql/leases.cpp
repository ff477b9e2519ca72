// The port's calls on a session on MariaDB or MySQL.
#include "mysql/leases.hpp"

#include <exception>
#include <type_traits>
#include <utility>

#include "mysql/acquire.hpp"
#include "mysql/admin.hpp"
#include "mysql/connecting.hpp"
#include "mysql/session.hpp"
#include "mysql/table_check.hpp"

namespace rowlock::through_soci {

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

class mysql_leases final : public lease_session {
 public:
  mysql_leases(mysql_session session, table_name table, microseconds skew)
      : table_{std::move(table)}, skew_{skew}, calls_{session, table_} {}

  std::vector<acquire_answer> acquire(std::span<const acquire_request> requests) override {
    return call([&] { return acquiring(requests).run(); });
  }

  std::vector<acquire_answer> acquire_all(std::span<const acquire_request> requests) override {
    return call([&] { return acquiring(requests).run_for_all(); });
  }

  std::vector<acquire_answer> acquire_any(std::span<const acquire_request> requests,
                                          std::size_t at_most) override {
    return call([&] { return acquiring(requests).run_for_any(at_most); });
  }

  std::vector<change_answer> renew(std::span<const renew_request> requests) override {
    return call([&] { return renew_now(requests); });
  }

  std::vector<change_answer> release(std::span<const release_request> requests) override {
    return call([&] { return release_now(requests); });
  }

  handoff_answer handoff(const handoff_request& request) override {
    return call([&] { return handoff_now(request); });
  }

  change_answer write_note(const note_request& request) override {
    return call([&] { return write_note_in_mysql(calls_, request); });
  }

  std::vector<std::optional<row_state>> read(std::span<const lock_key> keys) override {
    return call([&] { return states_of(calls_.look(list_of(keys))); });
  }

  std::vector<std::optional<row_state>> prepare(std::span<const lock_key> keys) override {
    return call([&] { return prepare_now(list_of(keys)); });
  }

  std::vector<row_state> list() override {
    return call([&] { return listed_in(calls_.read(calls_.statements().list)); });
  }

  std::optional<std::string> used_by(const lock_key& key) override {
    return call([&] { return used_by_in_mysql(calls_, key); });
  }

  force_answer force_release(const force_request& request) override {
    return call([&] { return force_release_in_mysql(calls_, request); });
  }

  purge_answer purge(const purge_request& request) override {
    return call([&] { return purge_in_mysql(calls_, request, skew_); });
  }

  std::vector<std::string> weak_settings() override {
    return call([&] { return weak_settings_in(calls_.read(sql::mysql::settings_of_the_server)); });
  }

  void check_table() override {
    call([&] { check_mysql_table(calls_.session(), calls_.statements(), table_); });
  }

  [[nodiscard]] bool is_usable() const noexcept override { return is_usable_; }
  [[nodiscard]] bool is_alive() const noexcept override { return is_usable_ && calls_.is_alive(); }

 private:
  template <class Work>
  std::invoke_result_t<const Work&> call(const Work& work) {
    calls_.begin_call();
    try {
      return work();
    } catch (const std::exception& thrown) {
      if (needs_new_connection(error_number_of(thrown))) is_usable_ = false;
      throw_as_error(calls_.had(), &table_);
    }
  }

  mysql_acquiring acquiring(std::span<const acquire_request> requests) {
    return {calls_, requests, skew_,
            [this](std::span<const renew_request> mine) { return renew_now(mine); }};
  }

  std::vector<change_answer> renew_now(std::span<const renew_request> requests) {
    const auto& sql = calls_.statements();
    std::vector<change_answer> answers(requests.size(), change_answer::done);
    if (requests.size() == 1 && calls_.answers_at_once()) {
      const auto& [key, owner, granted, ttl] = requests.front();
      const auto answered =
          calls_.write(sql.renew, {mysql_value::ascii(key.type), mysql_value::bytes(key.source_id),
                                   mysql_value::ascii(owner.text), granted.number, ttl.count()});
      if (answered && answered->affected == 1) return answers;
      return unchanged(requests);
    }
    json_rows to_have;
    json_rows to_write;
    for (const auto& request : requests) {
      to_have.add(granted_row(request));
      to_write.add(granted_row(request).number(request.ttl.count()));
    }
    if (calls_.answers_at_once()) {
      if (const auto answered = calls_.write(sql.renew_many, {to_write.value()})) {
        if (answered->affected == requests.size()) return answers;
        // It found all rows that are as they were granted, and renewed them.
        const auto seen = calls_.look(keys_of(requests));
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
        calls_.write_what_nobody_has(sql.have_many_granted, to_have, sql.renew_many, to_write, 0)
            .places);
  }

  std::vector<change_answer> release_now(std::span<const release_request> requests) {
    const auto& sql = calls_.statements();
    if (requests.size() == 1 && calls_.answers_at_once()) {
      const auto& [key, owner, granted, failed, closed, done_for] = requests.front();
      const auto answered = calls_.write(
          sql.release, {mysql_value::ascii(key.type), mysql_value::bytes(key.source_id),
                        mysql_value::ascii(owner.text), granted.number, failed ? 1 : 0,
                        closed.count(), done_for.value_or(microseconds::zero()).count()});
      if (answered && answered->affected == 1) return {change_answer::done};
      return unchanged(requests);
    }
    // A released row does not show who released it: so they are found first.
    json_rows to_have;
    json_rows to_write;
    for (const auto& request : requests) {
      to_have.add(granted_row(request));
      to_write.add(with_what_stays(granted_row(request).number(request.failed ? 1 : 0), request));
    }
    return unchanged(
        requests,
        calls_.write_what_nobody_has(sql.have_many_granted, to_have, sql.release_many, to_write, 0)
            .places);
  }

  handoff_answer handoff_now(const handoff_request& request) {
    const auto& [ended, next] = request;
    if (!calls_.answers_at_once()) {
      handoff_answer answer{.ended = release_now({&ended, 1}).front()};
      if (answer.ended != change_answer::done) return answer;
      const auto asked = acquiring({&next, 1}).run().front();
      if (asked.status == acquire_status::granted) answer.granted = asked.version;
      return answer;
    }
    const auto answered = calls_.write(
        calls_.statements().handoff,
        {mysql_value::ascii(ended.key.type), mysql_value::bytes(ended.key.source_id),
         mysql_value::ascii(ended.owner.text), ended.version.number, ended.failed ? 1 : 0,
         mysql_value::ascii(next.owner.text), mysql_value::utf8(next.holder), next.ttl.count()});
    if (!answered || answered->affected == 0) {
      return {.ended = unchanged(std::span{&ended, 1}).front()};
    }
    handoff_answer answer{.ended = change_answer::done};
    // (A trigger of the table has statements of its own, and theirs is told: then the next one
    // asks.)
    if (answered->insert_id != 0) {
      answer.granted = version{static_cast<std::int64_t>(answered->insert_id)};
    }
    return answer;
  }

  /// The answers where a statement has changed the rows at `places` and no other.
  template <class Request>
  std::vector<change_answer> unchanged(std::span<const Request> requests,
                                       const std::vector<std::size_t>& places = {}) {
    std::vector<change_answer> answers(requests.size(), change_answer::lost);
    for (const auto place : places) answers[place] = change_answer::done;
    if (places.size() == requests.size()) return answers;
    const auto seen = calls_.look(keys_of(requests));
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (answers[i] != change_answer::done) {
        answers[i] = detail::busy_or_lost(seen[i], requests[i]);
      }
    }
    return answers;
  }

  std::vector<std::optional<row_state>> prepare_now(const key_list& keys) {
    const auto& sql = calls_.statements();
    auto seen = calls_.look(keys);
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
      const mysql_value skew{skew_.count()};
      if (!calls_.answers_at_once() || !calls_.write(sql.prepare_many, {run_out.value(), skew})) {
        calls_.write_what_nobody_has(sql.have_many_at_version, run_out, sql.prepare_many, run_out,
                                     skew);
      }
    }
    return states_of(calls_.look(keys));
  }

  void create(const key_list& missing) {
    const auto& sql = calls_.statements();
    if (missing.size() > 1 && calls_.write(sql.insert_many_unowned, {rows_of(missing).value()})) {
      return;
    }
    for (const auto* key : missing) {
      calls_.write(sql.insert_unowned,
                   {mysql_value::ascii(key->type), mysql_value::bytes(key->source_id)});
    }
  }

  const table_name table_;
  const microseconds skew_;
  mysql_calls calls_;
  bool is_usable_ = true;
};

}  // namespace

std::unique_ptr<lease_session> pin_mysql(::soci::session& session, const soci_options& options) {
  const auto pinned = made_fit_for_a_store(session, options);
  return std::make_unique<mysql_leases>(pinned.session, options.table, pinned.skew);
}

}  // namespace rowlock::through_soci
