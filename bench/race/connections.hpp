// A pool of connections to PostgreSQL, as the applications of all protocols have one.
#ifndef ROWLOCK_BENCH_RACE_CONNECTIONS_HPP
#define ROWLOCK_BENCH_RACE_CONNECTIONS_HPP

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "race/protocol.hpp"

namespace rowlock::race {

struct prepared_statement {
  std::string name;
  std::string sql;
};

/// A connection whose names without a schema are those of the place.
std::unique_ptr<pqxx::connection> connect(const place& where);
/// Statements without results, in one transaction.
void execute(const place& where, const std::string& sql);
/// Vacuums and analyzes all tables of the place, as autovacuum does sooner or later: the plans of
/// statements depend on it.
void vacuum(const place& where);

/// A fair pool, as HikariCP: the thread that has waited longest gets the next connection.
///
/// Thread-safety: all members may be called from any thread.
class connections {
 public:
  /// Opens all of them.
  connections(const place& where, const std::vector<prepared_statement>& statements);

  /// Goes back to the pool when it is destroyed.
  class borrowed {
   public:
    borrowed() = default;
    borrowed(connections& from, pqxx::connection* connection) : from_{&from}, ours_{connection} {}
    borrowed(borrowed&& other) noexcept : from_{other.from_}, ours_{other.ours_} {
      other.ours_ = nullptr;
    }
    borrowed& operator=(borrowed&& other) noexcept {
      std::swap(from_, other.from_);
      std::swap(ours_, other.ours_);
      return *this;
    }
    borrowed(const borrowed&) = delete;
    borrowed& operator=(const borrowed&) = delete;
    ~borrowed() {
      if (ours_ != nullptr) from_->give_back(ours_);
    }
    pqxx::connection& operator*() const { return *ours_; }

   private:
    connections* from_ = nullptr;
    pqxx::connection* ours_ = nullptr;
  };

  /// Waits until one is free.
  borrowed borrow();

 private:
  void give_back(pqxx::connection* connection);

  std::vector<std::unique_ptr<pqxx::connection>> all_;
  struct waiter {
    std::condition_variable given;
    pqxx::connection* connection = nullptr;
  };

  std::mutex mutex_;
  // Guarded by mutex_; one of them is empty:
  std::vector<pqxx::connection*> free_;
  std::deque<waiter*> waiting_;
};

}  // namespace rowlock::race

#endif
