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

std::vector<acquire_answer> sqlite_store::acquire(std::span<const acquire_request> requests) {
  for (const auto& request : requests) check(request);
  std::vector<acquire_answer> answers(requests.size());
  impl_->with_connection([&](file_access& file) { answers = on_sqlite::acquire(file, requests); });
  return answers;
}

std::vector<acquire_answer> sqlite_store::acquire_all(std::span<const acquire_request> requests) {
  check_set(requests);
  std::vector<acquire_answer> answers(requests.size());
  impl_->with_connection(
      [&](file_access& file) { answers = on_sqlite::acquire_all(file, requests); });
  return answers;
}

std::vector<acquire_answer> sqlite_store::acquire_any(std::span<const acquire_request> requests,
                                                      std::size_t at_most) {
  check_set(requests);
  std::vector<acquire_answer> answers(requests.size(), {.status = acquire_status::withheld});
  impl_->with_connection(
      [&](file_access& file) { answers = on_sqlite::acquire_any(file, requests, at_most); });
  return answers;
}

std::vector<renew_answer> sqlite_store::renew(std::span<const renew_request> requests) {
  for (const auto& request : requests) check(request);
  std::vector<renew_answer> answers(requests.size(), renew_answer::busy);
  impl_->with_connection([&](file_access& file) { answers = on_sqlite::renew(file, requests); });
  return answers;
}

std::vector<release_answer> sqlite_store::release(std::span<const release_request> requests) {
  for (const auto& request : requests) check(request);
  std::vector<release_answer> answers(requests.size(), release_answer::busy);
  impl_->with_connection([&](file_access& file) { answers = on_sqlite::release(file, requests); });
  return answers;
}

handoff_answer sqlite_store::handoff(const handoff_request& request) {
  check(request);
  handoff_answer answer;
  impl_->with_connection([&](file_access& file) { answer = on_sqlite::handoff(file, request); });
  return answer;
}

note_answer sqlite_store::write_note(const note_request& request) {
  check(request);
  auto answer = note_answer::busy;
  impl_->with_connection([&](file_access& file) { answer = on_sqlite::write_note(file, request); });
  return answer;
}

std::vector<std::optional<row_state>> sqlite_store::read(std::span<const lock_key> keys) {
  for (const auto& key : keys) check(key);
  return impl_->in_turn([&](file_access& file) { return on_sqlite::read(file, keys); },
                        detail::store_connection::access::read);
}

std::vector<std::optional<row_state>> sqlite_store::prepare(std::span<const lock_key> keys) {
  for (const auto& key : keys) check(key);
  return impl_->in_turn([&](file_access& file) { return on_sqlite::prepare(file, keys); });
}

std::vector<row_state> sqlite_store::list() {
  return impl_->in_turn([](file_access& file) { return on_sqlite::list(file); },
                        detail::store_connection::access::read);
}

std::optional<std::string> sqlite_store::used_by(const lock_key& key) {
  check(key);
  return impl_->in_turn([&](file_access& file) { return on_sqlite::used_by(file, key); },
                        detail::store_connection::access::read);
}

force_answer sqlite_store::force_release(const force_request& request) {
  check(request);
  auto answer = force_answer::busy;
  impl_->with_connection(
      [&](file_access& file) { answer = on_sqlite::force_release(file, request); });
  return answer;
}

purge_answer sqlite_store::purge(const purge_request& request) {
  check(request);
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
