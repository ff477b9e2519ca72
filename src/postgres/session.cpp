// What one call of the port asks the server.
#include "postgres/session.hpp"

#include "postgres/table_check.hpp"

namespace rowlock::postgres {

namespace {

done_request done_in(const answer::row& row) { return {row.place(), {row.number("version")}}; }

/// What the role may not see is left out.
std::string session_in_words(const answer::row& row) {
  if (!row.flag("is_known")) return "a transaction whose session is not known";
  if (row.is_null("pid")) return "a prepared transaction: see pg_prepared_xacts";
  std::string words = "pid " + row.text("pid");
  if (const auto name = row.text("application_name"); !name.empty()) words += " (" + name + ')';
  if (!row.is_null("since")) words += ", transaction since " + row.text("since") + " UTC";
  return words;
}

done_request taken_in(const answer::row& row) {
  auto taken = done_in(row);
  if (!row.is_null("left_of_last_us")) {
    taken.taken_over = {row.text("last_holder"),
                        std::chrono::microseconds{row.number("left_of_last_us")}};
  }
  return taken;
}

}  // namespace

acquire_answer granted_by(const done_request& done) {
  acquire_answer answer{.status = acquire_status::granted, .version = done.version};
  if (done.taken_over) {
    answer.took_over_expired = true;
    answer.holder = done.taken_over->holder;
    answer.remaining = done.taken_over->left;
  }
  return answer;
}

template <class HasWritten>
answer store_call::execute_writing(const std::string& sql, const bound_values& values,
                                   const HasWritten& has_written) {
  const effects before = had_;
  if (had_ == effects::none) had_ = effects::possible;
  auto answered = line_.execute(sql, values);
  had_ = has_written(answered) ? effects::made : before;
  return answered;
}

answer store_call::execute_writing(const std::string& sql, const bound_values& values) {
  return execute_writing(sql, values, [](const answer& answered) { return !answered.empty(); });
}

std::vector<done_request> store_call::write(const std::string& sql, const bound_values& values) {
  std::vector<done_request> done;
  const auto answered = execute_writing(sql, values);
  for (const auto row : answered) done.push_back(done_in(row));
  return done;
}

std::optional<acquire_answer> store_call::take_row(const std::string& sql,
                                                   const bound_values& values) {
  bool is_granted = false;
  const auto answered = execute_writing(sql, values, [&](const answer& told) {
    return is_granted = !told.empty() && told.front().flag("is_granted");
  });
  if (answered.empty()) return std::nullopt;
  if (answered.size() > 1) throw_two_rows_of_a_key();
  const auto row = answered.front();
  acquire_answer told{.status = acquire_status::held, .version = {{row.number("version")}}};
  if (is_granted) {
    told.status = acquire_status::granted;
    told.took_over_expired = !row.is_null("left_us");
    if (!told.took_over_expired) return told;
  }
  told.holder = row.text("holder");
  told.remaining = std::chrono::microseconds{row.number("left_us")};
  if (!is_granted) *told.remaining += statements_.clock_skew;
  return told;
}

std::vector<done_request> store_call::take_rows(const std::string& sql,
                                                const bound_values& values) {
  std::vector<done_request> taken;
  const auto answered = execute_writing(sql, values);
  for (const auto row : answered) taken.push_back(taken_in(row));
  return taken;
}

taken_set store_call::take_set(const std::string& sql, const bound_values& values) {
  const auto is_granted = [](const answer& answered) {
    return !answered.empty() && !answered.front().is_null("version");
  };
  taken_set taken;
  const auto answered = execute_writing(sql, values, is_granted);
  for (const auto row : answered) {
    if (row.is_null("version")) {
      taken.withheld.push_back(row.place());
    } else {
      taken.granted.push_back(taken_in(row));
    }
  }
  return taken;
}

purge_answer store_call::purge(const purge_request& request) {
  const auto after = request.after.value_or(lock_key{});
  const bound_values values{after.type, after.source_id, static_cast<std::int64_t>(request.at_most),
                            std::int64_t{request.older_than.count()}};
  const auto answered = execute_writing(statements_.purge, values, [](const answer& told) {
    return !told.empty() && told.front().number("purged") > 0;
  });
  if (answered.empty()) return {};
  const auto told = answered.front();
  purge_answer purged{.purged = static_cast<std::size_t>(told.number("purged"))};
  if (static_cast<std::size_t>(told.number("looked")) == request.at_most) {
    purged.last = lock_key{told.text("lock_type"), told.text("source_id")};
  }
  return purged;
}

std::vector<std::optional<seen_row>> store_call::look(const key_list& keys) {
  std::vector<std::optional<seen_row>> seen(keys.size());
  const auto answered = line_.execute(statements_.look, bound_values{types_of(keys), ids_of(keys)});
  for (const auto row : answered) {
    const auto index = row.place();
    if (index >= seen.size() || seen[index]) throw_two_rows_of_a_key();
    seen[index] = seen_in(row, *keys[index]);
    seen[index]->is_watched = row.flag("will_be_announced");
  }
  return seen;
}

void store_call::leave_word(const key_list& keys, const std::string& versions) {
  // Not `execute_writing`: whether it was done makes no difference to anybody's lock.
  line_.execute(statements_.leave_word, bound_values{types_of(keys), ids_of(keys), versions});
}

void store_call::prepare(const key_list& keys) {
  execute_writing(statements_.prepare, bound_values{types_of(keys), ids_of(keys)});
}

std::vector<row_state> store_call::list() {
  std::vector<row_state> owned;
  const auto answered = line_.execute(statements_.list);
  for (const auto row : answered) {
    owned.push_back(
        seen_in(row, {.type = row.text("lock_type"), .source_id = row.text("source_id")}).state);
  }
  return owned;
}

std::optional<std::string> store_call::used_by(const lock_key& key) {
  const auto answered = line_.execute(statements_.used_by, bound_values{key.type, key.source_id});
  if (answered.empty()) return std::nullopt;
  std::string sessions;
  bool is_one_of_them = false;
  for (const auto row : answered) {
    if (!sessions.empty()) sessions += "; ";
    sessions += session_in_words(row);
    if (row.flag("maybe") && answered.size() > 1) is_one_of_them = true;
  }
  return is_one_of_them ? "one of these: " + sessions : sessions;
}

std::vector<std::string> store_call::weak_settings(const table_name& table) {
  std::vector<std::string> weak;
  const auto answered = line_.execute(statements_.weak_settings);
  for (const auto row : answered) {
    if (row.is_null("name")) {
      weak.push_back("table " + table.text() +
                     " is unlogged: a crash of the server empties it, and with it goes every lease "
                     "that is held; run `" +
                     table.in("ALTER TABLE shared_lock SET LOGGED") + "`");
      continue;
    }
    const auto name = row.text("name");
    weak.emplace_back(name)
        .append(
            " is off on this PostgreSQL server: a crash can undo what it acknowledged, a grant or "
            "a release too; set ")
        .append(name)
        .append(" = on");
  }
  return weak;
}

void store_call::check_table(const table_name& table) {
  postgres::check_table(line_, statements_, table);
}

}  // namespace rowlock::postgres
