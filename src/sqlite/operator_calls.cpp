// The calls of the port for people on call, on a SQLite file.
#include "sqlite/operator_calls.hpp"

#include <algorithm>

namespace rowlock::on_sqlite {

std::vector<row_state> list(file_turn& file) {
  std::vector<row_state> found;
  file.read([&](row_statements& rows) { found = rows.list(); });
  return found;
}

std::optional<std::string> used_by(file_turn& file, const lock_key& key) {
  bool is_there = false;
  file.read([&](row_statements& rows) { is_there = rows.read(key).has_value(); });
  if (!is_there || !file.has_writer()) return std::nullopt;
  return "a transaction that is writing to the file, whatever it writes";
}

force_answer force_release(file_turn& file, const force_request& request) {
  bool is_to_be_taken = false;
  file.read([&](row_statements& rows) {
    const auto found = rows.read(request.key);
    is_to_be_taken = found && found->state.version == request.version &&
                     (found->state.owned || found->state.is_live());
  });
  if (!is_to_be_taken) return force_answer::stale;

  auto answer = force_answer::stale;
  const bool was_our_turn = file.try_write(1, [&](row_statements& rows) {
    if (rows.force_release(request)) answer = force_answer::released;
  });
  return was_our_turn ? answer : force_answer::busy;
}

purge_answer purge(file_turn& file, const purge_request& request) {
  std::vector<seen_row> seen;
  file.read([&](row_statements& rows) { seen = rows.look_for_idle(request); });
  purge_answer answer;
  if (seen.size() > request.at_most) {
    seen.pop_back();
    answer.last = seen.back().key;
  }
  std::erase_if(seen, [](const seen_row& row) { return !row.is_idle; });
  if (seen.empty()) return answer;

  std::size_t purged = 0;
  const bool was_our_turn = file.try_write(seen.size(), [&](row_statements& rows) {
    purged = 0;
    for (const auto& row : seen) {
      if (rows.delete_if_idle(row.key, request.older_than)) ++purged;
    }
  });
  if (was_our_turn) answer.purged = purged;
  return answer;
}

}  // namespace rowlock::on_sqlite
