// The port's calls on a session of a SQLite file.
#include "sqlite/soci/session.hpp"

#include <soci/soci.h>

#include <optional>
#include <string>
#include <utility>

#include "rowlock/error.hpp"
#include "sqlite/database_file.hpp"
#include "sqlite/leases.hpp"
#include "sqlite/soci/handle.hpp"
#include "sqlite/statement.hpp"
#include "sqlite/table_check.hpp"
#include "sqlite/transaction.hpp"
#include "store/schema_check.hpp"

namespace rowlock::through_soci {

namespace {

using on_sqlite::file_access;

class sqlite_session final : public lease_session {
 public:
  sqlite_session(::soci::session& session, const soci_options& options)
      : session_{session}, options_{options} {}

  std::vector<acquire_answer> acquire(std::span<const acquire_request> requests) override {
    return in_turn([&](file_access& file) { return on_sqlite::acquire(file, requests); })
        .value_or(std::vector<acquire_answer>(requests.size()));
  }
  std::vector<acquire_answer> acquire_all(std::span<const acquire_request> requests) override {
    return in_turn([&](file_access& file) { return on_sqlite::acquire_all(file, requests); })
        .value_or(std::vector<acquire_answer>(requests.size()));
  }
  std::vector<acquire_answer> acquire_any(std::span<const acquire_request> requests,
                                          std::size_t at_most) override {
    return in_turn(
               [&](file_access& file) { return on_sqlite::acquire_any(file, requests, at_most); })
        .value_or(std::vector<acquire_answer>(requests.size(), {acquire_status::withheld}));
  }
  std::vector<change_answer> renew(std::span<const renew_request> requests) override {
    return in_turn([&](file_access& file) { return on_sqlite::renew(file, requests); })
        .value_or(std::vector<change_answer>(requests.size(), change_answer::busy));
  }
  std::vector<change_answer> release(std::span<const release_request> requests) override {
    return in_turn([&](file_access& file) { return on_sqlite::release(file, requests); })
        .value_or(std::vector<change_answer>(requests.size(), change_answer::busy));
  }
  handoff_answer handoff(const handoff_request& request) override {
    return in_turn([&](file_access& file) { return on_sqlite::handoff(file, request); })
        .value_or(handoff_answer{});
  }
  change_answer write_note(const note_request& request) override {
    return in_turn([&](file_access& file) { return on_sqlite::write_note(file, request); })
        .value_or(change_answer::busy);
  }
  std::vector<std::optional<row_state>> read(std::span<const lock_key> keys) override {
    return read_in_turn([&](file_access& file) { return on_sqlite::read(file, keys); });
  }
  std::vector<std::optional<row_state>> prepare(std::span<const lock_key> keys) override {
    return read_in_turn([&](file_access& file) { return on_sqlite::prepare(file, keys); });
  }
  std::vector<row_state> list() override {
    return read_in_turn([](file_access& file) { return on_sqlite::list(file); });
  }
  std::optional<std::string> used_by(const lock_key& key) override {
    return read_in_turn([&](file_access& file) { return on_sqlite::used_by(file, key); });
  }
  force_answer force_release(const force_request& request) override {
    return in_turn([&](file_access& file) { return on_sqlite::force_release(file, request); })
        .value_or(force_answer::busy);
  }
  purge_answer purge(const purge_request& request) override {
    return read_in_turn([&](file_access& file) { return on_sqlite::purge(file, request); });
  }

  /// For each session anew, with its first call: each may have met another file.
  void check_table() override {}

  [[nodiscard]] bool is_usable() const noexcept override { return is_usable_; }
  [[nodiscard]] bool is_alive() const noexcept override {
    return !on_sqlite::has_moved(handle_of(session_));
  }

 private:
  /// What `work` returns; none when others kept the file all the time.
  template <class Work>
  auto in_turn(const Work& work) -> std::optional<decltype(work(std::declval<file_access&>()))> {
    try {
      on_sqlite::busy_wait wait{options_.turn_timeout};
      if (!rows_ && !on_sqlite::succeeds_in_time(wait, [&] { connect(wait); })) return {};
      file_access file{handle_of(session_), *rows_, wait};
      return work(file);
    } catch (const on_sqlite::failure& failed) {
      is_usable_ = false;
      const auto where = on_sqlite::url_of(handle_of(session_));
      on_sqlite::throw_error(failed, where, sql::how_to_migrate(where, options_.table));
    } catch (...) {
      is_usable_ = false;
      throw;
    }
  }

  template <class Work>
  auto read_in_turn(const Work& work) -> decltype(work(std::declval<file_access&>())) {
    auto found = in_turn(work);
    if (!found) on_sqlite::throw_others_kept_the_file();
    return *std::move(found);
  }

  /// Makes the session fit for a store.
  void connect(on_sqlite::busy_wait& wait) {
    auto* const database = handle_of(session_);
    const auto file = on_sqlite::file_of(database);
    if (file.empty()) {
      throw error{
          errc::rejected,
          "the session's database is in memory, or its file was deleted: other processes do "
          "not see it; open the session with the path of a file"};
    }
    if (on_sqlite::is_in_transaction(database)) {
      throw error{errc::misuse,
                  "a session of the pool has an open transaction: end it, and leave the pool to "
                  "the store"};
    }
    if (!options_.allow_network_file_system) on_sqlite::refuse_network_file_system(file);
    on_sqlite::require_writable(database);
    on_sqlite::prepare_connection(database);
    on_sqlite::switch_to_wal(database, wait);
    on_sqlite::row_statements rows{database, options_.table};
    on_sqlite::check_table(database, rows, options_.table, on_sqlite::url_of(database));
    rows_.emplace(std::move(rows));
  }

  ::soci::session& session_;
  const soci_options& options_;
  std::optional<on_sqlite::row_statements> rows_;
  bool is_usable_ = true;
};

}  // namespace

std::unique_ptr<lease_session> make_sqlite_session(::soci::session& session,
                                                   const soci_options& options) {
  return std::make_unique<sqlite_session>(session, options);
}

}  // namespace rowlock::through_soci
