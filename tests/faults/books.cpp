// The application that the locks protect: what it writes.
#include "faults/books.hpp"

#include <chrono>
#include <utility>

#include "rowlock/soci_store.hpp"

namespace rowlock::tests {

namespace {

bool has_counter(int key) { return key % 2 == 0; }

std::string text_of(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "null";
}

}  // namespace

std::unique_ptr<books> open_books(const database_url& url) {
  switch (url.which()) {
    case database_url::engine::sqlite:
      return open_sqlite_books(url.target());
    case database_url::engine::postgresql:
      return open_postgres_books(url.target());
    case database_url::engine::soci:
      break;
  }
  return open_soci_books(url.target());
}

std::unique_ptr<store> open_locks(const database_url& url) {
  if (url.which() != database_url::engine::soci) return open_store(url);
  return std::make_unique<soci_store>(
      url.target(), soci_options{.clock_skew = std::chrono::milliseconds::zero()});
}

lock_key lock_key_of(int key) { return {.type = "book", .source_id = std::to_string(key)}; }

void create_books(books& opened) {
  auto& line = opened.outside();
  line.execute("create table counter (book integer primary key, value bigint not null)");
  line.execute("create table entry (place " + opened.numbered_column() +
               ", book integer not null, version bigint not null, counted bigint, smaller bigint)");
  line.execute("create index entry_version on entry (book, version)");
  clear_books(opened);
}

void clear_books(books& opened) {
  auto& line = opened.outside();
  line.execute("delete from entry");
  line.execute("delete from counter");
  for (int key = 0; key < keys; ++key) {
    if (has_counter(key)) {
      line.execute("insert into counter values (" + std::to_string(key) + ", 0)");
    }
  }
}

history read_books(books& opened) {
  history found;
  opened.catch_up();
  auto& line = opened.outside();
  for (const auto& row : line.rows("select book, value from counter")) {
    found.counters[static_cast<int>(*row[0])] = *row[1];
  }
  for (const auto& row : line.rows("select place, book, version, counted, smaller from entry")) {
    const auto place = opened.has_several_writers() ? std::nullopt : row[0];
    found.entries.push_back({.place = place,
                             .key = static_cast<int>(*row[1]),
                             .version = {*row[2]},
                             .counted = row[3],
                             .smaller = row[4]});
  }
  return found;
}

entry begin_entry(sql_line& line, int key, version granted) {
  entry begun{.key = key, .version = granted};
  const auto of_key = " where book = " + std::to_string(key);
  if (has_counter(key)) {
    begun.counted = line.number("select value from counter" + of_key) + 1;
  } else {
    begun.smaller = line.number("select count(*) from entry" + of_key + " and version < " +
                                std::to_string(granted.number));
  }
  return begun;
}

void write_entry(sql_line& line, const entry& written) {
  const auto key = std::to_string(written.key);
  if (written.counted) {
    line.execute("update counter set value = " + text_of(written.counted) + " where book = " + key);
  }
  line.execute("insert into entry (book, version, counted, smaller) values (" + key + ", " +
               std::to_string(written.version.number) + ", " + text_of(written.counted) + ", " +
               text_of(written.smaller) + ")");
}

version version_of(sql_line& line, int key) {
  const auto locked = lock_key_of(key);
  return {line.number("select version from shared_lock where lock_type = '" + locked.type +
                      "' and source_id = '" + locked.source_id + "'")};
}

bool has_successor(sql_line& line, const entry& begun) {
  return line.number("select count(*) from entry where book = " + std::to_string(begun.key) +
                     " and version > " + std::to_string(begun.version.number)) != 0;
}

}  // namespace rowlock::tests
