// The application that the locks protect: what it writes.
#include "faults/books.hpp"

#include <utility>

namespace rowlock::tests {

namespace {

bool has_counter(int key) { return key % 2 == 0; }

std::string text_of(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "null";
}

}  // namespace

std::unique_ptr<books> open_books(const database_url& url) {
  return url.which() == database_url::engine::sqlite ? open_sqlite_books(url.target())
                                                     : open_postgres_books(url.target());
}

lock_key lock_key_of(int key) { return {.type = "book", .source_id = std::to_string(key)}; }

void create_books(books& opened) {
  // The order of writing: the next place is never below one that was given before.
  const std::string place = opened.has_transactions_side_by_side()
                                ? "bigserial primary key"
                                : "integer primary key autoincrement";
  auto& line = opened.outside();
  line.execute("create table counter (key integer primary key, value bigint not null)");
  line.execute("create table entry (place " + place +
               ", key integer not null, version bigint not null, counted bigint, smaller bigint)");
  line.execute("create index entry_version on entry (key, version)");
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
  auto& line = opened.outside();
  for (const auto& row : line.rows("select key, value from counter")) {
    found.counters[static_cast<int>(*row[0])] = *row[1];
  }
  for (const auto& row : line.rows("select place, key, version, counted, smaller from entry")) {
    found.entries.push_back({.place = *row[0],
                             .key = static_cast<int>(*row[1]),
                             .version = {*row[2]},
                             .counted = row[3],
                             .smaller = row[4]});
  }
  return found;
}

entry begin_entry(sql_line& line, int key, version granted) {
  entry begun{.key = key, .version = granted};
  const auto of_key = " where key = " + std::to_string(key);
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
    line.execute("update counter set value = " + text_of(written.counted) + " where key = " + key);
  }
  line.execute("insert into entry (key, version, counted, smaller) values (" + key + ", " +
               std::to_string(written.version.number) + ", " + text_of(written.counted) + ", " +
               text_of(written.smaller) + ")");
}

version version_of(sql_line& line, int key) {
  const auto locked = lock_key_of(key);
  return {line.number("select version from shared_lock where lock_type = '" + locked.type +
                      "' and source_id = '" + locked.source_id + "'")};
}

bool has_successor(sql_line& line, const entry& begun) {
  return line.number("select count(*) from entry where key = " + std::to_string(begun.key) +
                     " and version > " + std::to_string(begun.version.number)) != 0;
}

}  // namespace rowlock::tests
