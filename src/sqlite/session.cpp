// A store session on a SQLite file, for any driver.
#include "sqlite/session.hpp"

#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/flushed.hpp"
#include "rowlock/error.hpp"
#include "sqlite/acquire.hpp"
#include "sqlite/database_file.hpp"
#include "sqlite/file_access.hpp"
#include "sqlite/inspecting.hpp"
#include "sqlite/schema.hpp"
#include "sqlite/sql/leases.hpp"
#include "store/in_halves.hpp"
#include "store/refusal_of.hpp"
#include "store/schema_check.hpp"

namespace rowlock::sqlite {

namespace {

using row_states = std::vector<std::optional<row_state>>;
using write_to_file = bool (file_access::*)(std::size_t, const file_access::work&);

/// Changes granted rows. It writes without a read before, because the write mostly succeeds.
template <class Request, class Change>
std::vector<change_answer> change_all(file_access& file, std::span<const Request> requests,
                                      const Change& change, std::size_t statements_each = 1,
                                      write_to_file write = &file_access::try_write) {
  std::vector<change_answer> answers(requests.size(), change_answer::busy);
  if (requests.empty()) return answers;
  std::vector<change_answer> written(requests.size(), change_answer::busy);
  const bool is_written =
      (file.*write)(requests.size() * statements_each, [&](row_statements& rows) {
        for (std::size_t i = 0; i < requests.size(); ++i) {
          written[i] = change(rows, requests[i]) ? change_answer::done : change_answer::lost;
        }
      });
  if (is_written) return written;
  file.try_read([&](row_statements& rows) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      answers[i] = detail::busy_or_lost(rows.read(requests[i].key), requests[i]);
    }
  });
  return answers;
}

std::vector<std::optional<row_state>> states_in(row_statements& rows,
                                                std::span<const lock_key> keys) {
  std::vector<std::optional<seen_row>> seen;
  seen.reserve(keys.size());
  for (const auto& key : keys) seen.push_back(rows.read(key));
  return detail::states_of(std::move(seen));
}

bool renew_row(row_statements& rows, const renew_request& request) {
  const auto& [key, owner, granted, ttl] = request;
  return rows.change(sql::renew, key.type, key.source_id, owner.text, granted.number,
                     as_modifier(ttl), ttl.count()) == 1;
}

bool write_note_to_row(row_statements& rows, const note_request& request) {
  const auto& [key, owner, granted, note] = request;
  return rows.change(sql::write_note, key.type, key.source_id, owner.text, granted.number, note) ==
         1;
}

bool write_ask_to_row(row_statements& rows, const ask_request& request) {
  const auto& [key, asked, by, reason] = request;
  return rows.change(sql::ask, key.type, key.source_id, asked.number, by, reason) == 1;
}

handoff_answer handoff(file_access& file, const handoff_request& request) {
  handoff_answer answer;
  const auto change = [&](row_statements& rows, const release_request& ended) {
    answer.granted.reset();
    const bool is_released = rows.release(ended);
    if (is_released) answer.granted = rows.acquire(request.next);
    return is_released;
  };
  answer.ended = change_all(file, std::span{&request.ended, 1}, change, 2).front();
  if (answer.ended != change_answer::done) answer.granted.reset();
  return answer;
}

row_states read(file_access& file, std::span<const lock_key> keys) {
  return file.read([&](row_statements& rows) { return states_in(rows, keys); });
}

row_states prepare(file_access& file, std::span<const lock_key> keys) {
  auto states = read(file, keys);
  std::vector<lock_key> unfit;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!states[i] || (states[i]->owned && !states[i]->is_live())) unfit.push_back(keys[i]);
  }
  if (unfit.empty()) return states;

  const bool is_written = file.try_write(unfit.size(), [&](row_statements& rows) {
    for (const auto& key : unfit) rows.prepare(key);
  });
  if (is_written) file.try_read([&](row_statements& rows) { states = states_in(rows, keys); });
  return states;
}

std::optional<std::string> used_by(file_access& file, const lock_key& key) {
  const bool is_there = file.read([&](row_statements& rows) { return rows.read(key).has_value(); });
  if (!is_there || !file.has_writer()) return std::nullopt;
  return "a transaction that is writing to the file, whatever it writes";
}

std::size_t purge_history(file_access& file, const history_purge_request& request) {
  std::size_t purged = 0;
  const bool is_written = file.try_write(
      request.limit, [&](row_statements& rows) { purged = rows.purge_history(request); });
  if (!is_written) throw_others_kept_the_file();
  return purged;
}

force_answer force_release(file_access& file, const force_request& request) {
  const bool is_to_be_taken = file.read([&](row_statements& rows) {
    return detail::busy_or_stale(rows.read(request.key), request) == force_answer::busy;
  });
  if (!is_to_be_taken) return force_answer::stale;

  auto answer = force_answer::stale;
  const bool is_written = file.try_write(1, [&](row_statements& rows) {
    const auto& [key, seen, reason] = request;
    if (rows.change(sql::force_release, key.type, key.source_id, seen.number, reason) == 1) {
      answer = force_answer::released;
    }
  });
  return is_written ? answer : force_answer::busy;
}

/// Deletes the rows and returns how many. None if one of them may not be deleted (another table
/// refers to it, perhaps checked at the commit only, or a trigger refuses): that fails the
/// transaction.
std::optional<std::size_t> purge_all(file_access& file, std::span<const purgeable_row> idle,
                                     std::chrono::microseconds older_than) {
  std::size_t purged = 0;
  try {
    const bool is_written = file.try_write(idle.size(), [&](row_statements& rows) {
      purged = 0;
      for (const auto& row : idle) {
        purged += static_cast<std::size_t>(
            rows.change(sql::delete_idle, row.key.type, row.key.source_id, older_than.count()));
      }
    });
    return is_written ? purged : 0;
  } catch (const failure& thrown) {
    if (!is_about_value(thrown)) throw;
    return std::nullopt;
  }
}

purge_answer purge(file_access& file, const purge_request& request) {
  auto seen = file.read([&](row_statements& rows) { return rows.find_idle(request); });
  purge_answer answer;
  if (seen.size() > request.limit) {
    seen.pop_back();
    answer.last = seen.back().key;
  }
  std::erase_if(seen, [](const purgeable_row& row) { return !row.is_idle; });
  answer.purged = detail::in_halves(
      std::span<const purgeable_row>{seen},
      [&](auto some) { return purge_all(file, some, request.older_than); },
      [&](const purgeable_row& row) { answer.refused.push_back(row.key); });
  return answer;
}

class file_session final : public session {
 public:
  file_session(std::unique_ptr<session_file> file, const table_name& table,
               std::chrono::milliseconds turn_timeout)
      : file_{std::move(file)}, table_{table}, turn_timeout_{turn_timeout} {}

  void end_next_call_at(busy_wait::clock::time_point end) override { end_ = end; }
  [[nodiscard]] std::string file() const override {
    return database_ == nullptr ? std::string{} : file_of(database_);
  }

  /// Does nothing: sessions may have different files, and each file is checked when it is opened.
  void check_table() override {}
  [[nodiscard]] bool is_usable() const noexcept override { return is_usable_; }
  [[nodiscard]] bool is_alive() const noexcept override { return file_->is_alive(); }

 protected:
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    switch (mode.how) {
      case acquire_mode::all_or_none:
        return write([&](file_access& file) { return acquire_all(file, requests); })
            .value_or(std::vector<acquire_answer>(requests.size()));
      case acquire_mode::any:
        return write([&](file_access& file) { return acquire_any(file, requests, mode.limit); })
            .value_or(std::vector<acquire_answer>(requests.size()));
      case acquire_mode::each:
        break;
    }
    return write([&](file_access& file) { return sqlite::acquire(file, requests); })
        .value_or(std::vector<acquire_answer>(requests.size()));
  }
  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override {
    return change(requests, renew_row);
  }
  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    const auto release = [](row_statements& rows, const release_request& request) {
      return rows.release(request);
    };
    return change(requests, release,
                  detail::are_to_be_flushed(requests) ? &file_access::try_write
                                                      : &file_access::try_write_unflushed);
  }
  handoff_answer do_handoff(const handoff_request& request) override {
    return write([&](file_access& file) { return sqlite::handoff(file, request); })
        .value_or(handoff_answer{});
  }
  change_answer do_write_note(const note_request& request) override {
    return change(std::span{&request, 1}, write_note_to_row).front();
  }
  change_answer do_ask(const ask_request& request) override {
    return change(std::span{&request, 1}, write_ask_to_row).front();
  }
  row_states do_read(std::span<const lock_key> keys, read_mode mode) override {
    if (mode == read_mode::ready_to_commit) {
      return done(write([&](file_access& file) { return prepare(file, keys); }));
    }
    return done(in_turn([&](file_access& file) {
      auto states = sqlite::read(file, keys);
      if (mode != read_mode::shown) return states;
      return detail::with_users(std::move(states),
                                [&](const lock_key& key) { return used_by(file, key); });
    }));
  }
  std::vector<row_state> do_list(const list_request& request) override {
    return read_rows([&](row_statements& rows) { return rows.list(request); });
  }
  history_page do_history(const history_request& request) override {
    return read_rows([&](row_statements& rows) { return rows.history(request); });
  }
  inspection do_inspect() override {
    return done(
        unchecked_in_turn([this](file_access& file) { return inspected(file, database_); }));
  }
  database_time do_now() override {
    return done(unchecked_in_turn([](file_access& file) {
      return file.read([](row_statements& rows) { return rows.now(); });
    }));
  }
  std::size_t do_purge_history(const history_purge_request& request) override {
    return done(write([&](file_access& file) { return sqlite::purge_history(file, request); }));
  }
  force_answer do_force_release(const force_request& request) override {
    return write([&](file_access& file) { return sqlite::force_release(file, request); })
        .value_or(force_answer::busy);
  }
  purge_answer do_purge(const purge_request& request) override {
    return done(write([&](file_access& file) { return sqlite::purge(file, request); }));
  }

 private:
  /// Returns the result of `work`; none if other connections kept the file until the wait was over.
  template <class Work>
  std::optional<std::invoke_result_t<const Work&, file_access&>> in_turn(const Work& work) {
    return after(work, [this](busy_wait& wait) {
      if (!rows_) open(wait);
      if (is_checked_) return;
      sqlite::check_table(database_, *rows_, table_, file_->where());
      is_checked_ = true;
    });
  }

  template <class Reading>
  std::invoke_result_t<const Reading&, row_statements&> read_rows(const Reading& reading) {
    return done(in_turn([&](file_access& file) { return file.read(reading); }));
  }

  /// The same as `in_turn`, for `work` that needs no table.
  template <class Work>
  std::optional<std::invoke_result_t<const Work&, file_access&>> unchecked_in_turn(
      const Work& work) {
    return after(work, [this](busy_wait& wait) {
      if (!rows_) open(wait);
    });
  }

  /// Runs `get_ready`, then `work`.
  template <class Work, class GetReady>
  std::optional<std::invoke_result_t<const Work&, file_access&>> after(const Work& work,
                                                                       const GetReady& get_ready) {
    busy_wait wait{
        std::exchange(end_, std::nullopt).value_or(busy_wait::clock::now() + turn_timeout_)};
    try {
      if (!succeeds_in_time(wait, [&] { get_ready(wait); })) return {};
      file_access file{database_, *rows_, wait, turn_end_};
      return work(file);
    } catch (const failure& failed) {
      is_usable_ = false;
      file_->throw_meaning_of(failed, detail::how_to_migrate(file_->where(), table_));
      throw;
    } catch (...) {
      is_usable_ = false;
      throw;
    }
  }

  /// The same, for `work` that writes.
  template <class Work>
  std::optional<std::invoke_result_t<const Work&, file_access&>> write(const Work& work) {
    return in_turn([&](file_access& file) {
      require_writable(database_);
      return work(file);
    });
  }

  template <class Request, class How>
  std::vector<change_answer> change(std::span<const Request> requests, const How& how,
                                    write_to_file by = &file_access::try_write) {
    return write([&](file_access& file) { return change_all(file, requests, how, 1, by); })
        .value_or(std::vector<change_answer>(requests.size(), change_answer::busy));
  }

  template <class Result>
  static Result done(std::optional<Result> result) {
    if (!result) throw_others_kept_the_file();
    return *std::move(result);
  }

  void open(busy_wait& wait) {
    database_ = file_->open(wait);
    rows_.emplace(database_, table_);
  }

  const std::unique_ptr<session_file> file_;
  const table_name& table_;
  const std::chrono::milliseconds turn_timeout_;
  std::optional<busy_wait::clock::time_point> end_;
  busy_wait::clock::time_point turn_end_;
  sqlite3* database_ = nullptr;
  std::optional<row_statements> rows_;
  bool is_checked_ = false;
  bool is_usable_ = true;
};

}  // namespace

std::unique_ptr<session> make_session(std::unique_ptr<session_file> file, const table_name& table,
                                      std::chrono::milliseconds turn_timeout) {
  return std::make_unique<file_session>(std::move(file), table, turn_timeout);
}

}  // namespace rowlock::sqlite
