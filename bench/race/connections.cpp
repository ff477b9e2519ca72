// A pool of connections to PostgreSQL, as the applications of all protocols have one.
#include "race/connections.hpp"

#include <utility>

namespace rowlock::race {

std::unique_ptr<pqxx::connection> connect(const place& where) {
  auto made = std::make_unique<pqxx::connection>(where.server);
  pqxx::nontransaction autocommit{*made};
  autocommit.exec("SET search_path = " + autocommit.quote_name(where.schema));
  return made;
}

void execute(const place& where, const std::string& sql) {
  const auto connection = connect(where);
  pqxx::work work{*connection};
  work.exec(sql);
  work.commit();
}

void vacuum(const place& where) {
  const auto connection = connect(where);
  pqxx::nontransaction autocommit{*connection};
  const auto tables = autocommit.exec("SELECT tablename FROM pg_tables WHERE schemaname = " +
                                      autocommit.quote(where.schema));
  for (const auto& table : tables) {
    autocommit.exec("VACUUM ANALYZE " + connection->quote_name(table[0].c_str()));
  }
  // What filled a large table is not written to the disk while it is measured.
  if (where.rows > 0) autocommit.exec("CHECKPOINT");
}

connections::connections(const place& where, const std::vector<prepared_statement>& statements) {
  while (all_.size() < where.connections) {
    all_.push_back(connect(where));
    for (const auto& each : statements) all_.back()->prepare(each.name, each.sql);
    free_.push_back(all_.back().get());
  }
}

connections::borrowed connections::borrow() {
  std::unique_lock lock{mutex_};
  if (!free_.empty()) {
    auto* const ours = free_.back();
    free_.pop_back();
    return {*this, ours};
  }
  waiter self;
  waiting_.push_back(&self);
  self.given.wait(lock, [&] { return self.connection != nullptr; });
  return {*this, self.connection};
}

void connections::give_back(pqxx::connection* connection) {
  const std::lock_guard lock{mutex_};
  if (waiting_.empty()) return free_.push_back(connection);
  auto& next = *waiting_.front();
  waiting_.pop_front();
  next.connection = connection;
  next.given.notify_one();  // under the lock: the waiter lives as long as it waits
}

}  // namespace rowlock::race
