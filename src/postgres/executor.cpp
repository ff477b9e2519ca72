// The execution of one call's statements on a connection.
#include "postgres/executor.hpp"

#include "postgres/sql/rows.hpp"

namespace rowlock::postgres {

namespace {

changed_row changed_in(const result_set::row& row) {
  return {row.place(), {row.number("version")}};
}

changed_row watched_in(const result_set::row& row) {
  auto changed = changed_in(row);
  changed.is_watched = row.flag("is_watched");
  return changed;
}

changed_row taken_in(const result_set::row& row) {
  auto taken = changed_in(row);
  if (!row.is_null("left_of_last_us")) {
    taken.taken_over = {row.text("last_holder"),
                        std::chrono::microseconds{row.number("left_of_last_us")}};
  }
  return taken;
}

}  // namespace

acquire_answer granted_by(const changed_row& changed) {
  acquire_answer answer{.status = acquire_status::granted, .version = changed.version};
  if (changed.taken_over) {
    answer.took_over_expired = true;
    answer.holder = changed.taken_over->holder;
    answer.remaining = changed.taken_over->left;
  }
  return answer;
}

result_set executor::execute_writing(std::string_view text, const bound_values& values) {
  return execute_writing(text, values, [](const result_set& result) { return !result.empty(); });
}

std::vector<changed_row> executor::write(std::string_view text, const bound_values& values) {
  std::vector<changed_row> changed;
  const auto result = execute_writing(text, values);
  for (const auto row : result) changed.push_back(changed_in(row));
  return changed;
}

std::vector<changed_row> executor::write_watched(std::string_view text,
                                                 const bound_values& values) {
  std::vector<changed_row> changed;
  const auto result = execute_writing(text, values);
  for (const auto row : result) changed.push_back(watched_in(row));
  return changed;
}

std::optional<changed_row> executor::write_unlocked(std::string_view text,
                                                    const bound_values& values) {
  std::optional<changed_row> changed;
  unless(&fault::is_lock_timeout, [&] {
    const auto result = execute_writing(text, values);
    if (result.size() > 1) throw_two_rows_of_a_key();
    if (!result.empty()) changed = watched_in(result.front());
  });
  return changed;
}

void executor::hint(std::string_view text, const bound_values& values) noexcept {
  try {
    execute(text, values);
  } catch (const std::exception&) {  // the pool gives no call a connection that was lost
  }
}

executor::row_answer executor::take_row(std::string_view text, const bound_values& values) {
  return row_answer_in(execute_writing(text, values, [](const result_set& result) {
    return !result.empty() && result.front().flag("is_granted");
  }));
}

std::optional<acquire_answer> executor::holder(std::string_view text, const bound_values& values) {
  const auto has_written = [](const result_set& /*seen*/) { return false; };
  return row_answer_in(execute_writing(text, values, has_written)).answer;
}

executor::row_answer executor::row_answer_in(const result_set& result) const {
  if (result.empty()) return {.is_missing = true};
  if (result.size() > 1) throw_two_rows_of_a_key();
  const auto row = result.front();
  const bool is_granted = row.flag("is_granted");
  if (!is_granted && !row.flag("is_held")) return {};
  acquire_answer found{.status = acquire_status::held, .version = {{row.number("version")}}};
  const bool is_watched = row.flag("is_watched");
  if (is_granted) {
    found.status = acquire_status::granted;
    found.took_over_expired = !row.is_null("left_us");
    if (!found.took_over_expired) return {.answer = found, .is_watched = is_watched};
  }
  found.holder = row.text("holder");
  found.remaining = std::chrono::microseconds{row.number("left_us")};
  if (!is_granted) *found.remaining += table_.clock_skew;
  return {.answer = found, .is_watched = is_watched};
}

std::vector<changed_row> executor::take_rows(std::string_view text, const bound_values& values) {
  std::vector<changed_row> taken;
  const auto result = execute_writing(text, values);
  for (const auto row : result) {
    taken.push_back(taken_in(row));
    taken.back().is_watched = row.flag("is_watched");
  }
  return taken;
}

set_result executor::take_set(std::string_view text, const bound_values& values) {
  const auto is_granted = [](const result_set& result) {
    return !result.empty() && !result.front().is_null("version");
  };
  set_result taken;
  const auto result = execute_writing(text, values, is_granted);
  for (const auto row : result) {
    if (row.is_null("version")) {
      taken.withheld.push_back(row.place());
    } else {
      taken.granted.push_back(taken_in(row));
    }
  }
  return taken;
}

std::vector<std::optional<seen_row>> executor::read(const key_list& keys) {
  std::vector<std::optional<seen_row>> seen(keys.size());
  const auto result = execute(sql::read, bound_values{types_of(keys), ids_of(keys)});
  for (const auto row : result) {
    const auto index = row.place();
    if (index >= seen.size() || seen[index]) throw_two_rows_of_a_key();
    seen[index] = seen_in(row, *keys[index]);
    seen[index]->is_watched = row.flag("is_watched");
  }
  return seen;
}

void executor::prepare(const key_list& keys) {
  const auto create = [this](const key_list& some, std::int64_t wait_ms) {
    return unless_being_created([&] {
      execute_writing(sql::prepare, bound_values{types_of(some), ids_of(some), wait_ms});
    });
  };
  if (create(keys, sql::short_wait_ms) || keys.size() == 1) return;
  std::size_t in_vain = 0;
  for (const auto* key : keys) {
    if (!create({key}, sql::wait_of_each_ms(in_vain))) ++in_vain;
  }
}

}  // namespace rowlock::postgres
