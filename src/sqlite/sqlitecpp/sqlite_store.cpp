// The SQLite store through SQLiteCpp, and its migrations.
#include "rowlock/sqlite_store.hpp"

#include <SQLiteCpp/Database.h>

#include <optional>
#include <utility>

#include "sqlite/database_file.hpp"
#include "sqlite/leases.hpp"
#include "sqlite/migrate.hpp"
#include "sqlite/sqlitecpp/errors.hpp"
#include "sqlite/sqlitecpp/store_connection.hpp"
#include "store/refusal_of.hpp"

namespace rowlock {

class sqlite_store::impl : public detail::store_connection {
 public:
  using detail::store_connection::store_connection;
};

using on_sqlite::file_access;

sqlite_store::sqlite_store(std::string path, sqlite_options options)
    : impl_{detail::make_owned_at_home<impl>(std::move(path), std::move(options))} {}

sqlite_store::sqlite_store(connect factory, sqlite_options options)
    : impl_{detail::make_owned_at_home<impl>(std::move(factory), std::move(options))} {}

sqlite_store::~sqlite_store() = default;

std::vector<acquire_answer> sqlite_store::do_acquire(std::span<const acquire_request> requests,
                                                     acquire_mode mode) {
  std::vector<acquire_answer> answers(requests.size());
  if (mode.how == acquire_mode::any) {
    answers.assign(requests.size(), {.status = acquire_status::withheld});
  }
  impl_->with_connection([&](file_access& file) {
    switch (mode.how) {
      case acquire_mode::each:
        answers = on_sqlite::acquire(file, requests);
        break;
      case acquire_mode::all_or_none:
        answers = on_sqlite::acquire_all(file, requests);
        break;
      case acquire_mode::any:
        answers = on_sqlite::acquire_any(file, requests, mode.at_most);
        break;
    }
  });
  return answers;
}

std::vector<change_answer> sqlite_store::do_renew(std::span<const renew_request> requests) {
  std::vector<change_answer> answers(requests.size(), change_answer::busy);
  impl_->with_connection([&](file_access& file) { answers = on_sqlite::renew(file, requests); });
  return answers;
}

std::vector<change_answer> sqlite_store::do_release(std::span<const release_request> requests) {
  std::vector<change_answer> answers(requests.size(), change_answer::busy);
  impl_->with_connection([&](file_access& file) { answers = on_sqlite::release(file, requests); });
  return answers;
}

handoff_answer sqlite_store::do_handoff(const handoff_request& request) {
  handoff_answer answer;
  impl_->with_connection([&](file_access& file) { answer = on_sqlite::handoff(file, request); });
  return answer;
}

change_answer sqlite_store::do_write_note(const note_request& request) {
  auto answer = change_answer::busy;
  impl_->with_connection([&](file_access& file) { answer = on_sqlite::write_note(file, request); });
  return answer;
}

std::vector<std::optional<row_state>> sqlite_store::do_read(std::span<const lock_key> keys,
                                                            read_mode mode) {
  using access = detail::store_connection::access;
  if (mode == read_mode::ready_to_commit) {
    return impl_->in_turn([&](file_access& file) { return on_sqlite::prepare(file, keys); });
  }
  return impl_->in_turn(
      [&](file_access& file) {
        auto states = on_sqlite::read(file, keys);
        if (mode != read_mode::shown) return states;
        return detail::with_users(
            std::move(states), [&](const lock_key& key) { return on_sqlite::used_by(file, key); });
      },
      access::read);
}

std::vector<row_state> sqlite_store::do_list() {
  return impl_->in_turn([](file_access& file) { return on_sqlite::list(file); },
                        detail::store_connection::access::read);
}

force_answer sqlite_store::do_force_release(const force_request& request) {
  auto answer = force_answer::busy;
  impl_->with_connection(
      [&](file_access& file) { answer = on_sqlite::force_release(file, request); });
  return answer;
}

purge_answer sqlite_store::do_purge(const purge_request& request) {
  return impl_->in_turn([&](file_access& file) { return on_sqlite::purge(file, request); });
}

std::vector<migration> migrate_sqlite(const std::string& path, const table_name& table) {
  on_sqlite::check_schema_name(table);
  on_sqlite::create_file(path);
  try {
    const auto database = detail::open_file(path);
    return on_sqlite::migrate(database->getHandle(), table);
  } catch (const on_sqlite::failure& failed) {
    detail::throw_as_error(failed, on_sqlite::url_of(path), on_sqlite::look_at_the_tables);
  }
}

}  // namespace rowlock
