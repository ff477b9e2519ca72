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

connections::connections(const place& where, const std::vector<prepared_statement>& statements) {
  while (all_.size() < where.connections) {
    all_.push_back(connect(where));
    for (const auto& each : statements) all_.back()->prepare(each.name, each.sql);
    free_.push_back(all_.back().get());
  }
}

connections::borrowed connections::borrow() {
  std::unique_lock lock{mutex_};
  returned_.wait(lock, [this] { return !free_.empty(); });
  auto* const ours = free_.back();
  free_.pop_back();
  return {*this, ours};
}

void connections::give_back(pqxx::connection* connection) {
  {
    const std::lock_guard lock{mutex_};
    free_.push_back(connection);
  }
  returned_.notify_one();
}

}  // namespace rowlock::race
