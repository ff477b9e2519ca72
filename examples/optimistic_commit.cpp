// Optimistic commit: no lock during the work; the second transaction to finish is refused.
#include <SQLiteCpp/SQLiteCpp.h>

#include <iostream>
#include <string>

#include "rowlock/lock_table.hpp"
#include "rowlock/sqlite.hpp"
#include "rowlock/sqlite_store.hpp"

namespace {

const rowlock::lock_key page{.type = "page", .source_id = "home"};

void save(SQLite::Database& wiki, const std::string& text, rowlock::version seen) {
  rowlock::sqlite_transaction work{wiki};
  SQLite::Statement update{wiki, "UPDATE page SET text = ? WHERE name = 'home'"};
  update.bind(1, text);
  update.exec();
  if (rowlock::try_commit(wiki, page, seen) == rowlock::commit_result::stale) {
    std::cout << "stale: another editor saved before \"" << text << "\"\n";
    return;  // rolls back
  }
  work.commit();
  std::cout << "saved \"" << text << "\"\n";
}

}  // namespace

int main() {
  rowlock::migrate_sqlite("optimistic_commit.db");
  SQLite::Database wiki{"optimistic_commit.db", SQLite::OPEN_READWRITE};
  wiki.exec("CREATE TABLE IF NOT EXISTS page (name TEXT PRIMARY KEY, text TEXT)");
  wiki.exec("INSERT OR REPLACE INTO page VALUES ('home', '')");

  rowlock::sqlite_store store{"optimistic_commit.db"};
  rowlock::lock_table locks{store};

  // Two editors open the page. The version is read before the text.
  const auto seen_by_ann = locks.read(page);
  const auto seen_by_bob = locks.read(page);
  save(wiki, "Ann was here", *seen_by_ann);
  save(wiki, "Bob was here", *seen_by_bob);

  // Bob reads Ann's text, and begins again.
  save(wiki, "Ann and Bob were here", *locks.read(page));
}
