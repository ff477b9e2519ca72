// Writes books once for all databases.
#ifndef ROWLOCK_TESTS_FAULTS_BOOKS_ON_HPP
#define ROWLOCK_TESTS_FAULTS_BOOKS_ON_HPP

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "faults/books.hpp"
#include "rowlock/row_lock.hpp"

namespace rowlock::tests {

/// `Database` has the types `transaction` and `connection`, `line_in`, which is a `sql_line` made
/// of a transaction, and `line_outside`, made of a connection. Where there can be
/// several writers, it has functions for what that changes.
template <class Database>
class books_on final : public books {
 public:
  using transaction = typename Database::transaction;
  using connection = typename Database::connection;

  explicit books_on(std::unique_ptr<connection> opened)
      : connection_{std::move(opened)}, outside_{*connection_} {
    if constexpr (requires { Database::has_several_writers(*connection_); }) {
      has_several_writers_ = Database::has_several_writers(*connection_);
    }
  }

  sql_line& outside() override { return outside_; }

  void run_fenced(const lease& held, const task& work, const fenced_run_options& options) override {
    rowlock::run_fenced<transaction>(*connection_, held, in(work), options);
  }

  void run_unfenced(const task& work) override {
    std::optional<transaction> begun;
    if (row_transaction<transaction>::begin(begun, *connection_, std::chrono::seconds{1})) {
      throw std::runtime_error{"the database was busy"};
    }
    in(work)(*begun);
    row_transaction<transaction>::commit(*begun);
  }

  outcome<void> with_row_lock(const lock_key& key, const retry_policy& wait,
                              const task& work) override {
    return rowlock::with_row_lock<transaction>(*connection_, key, wait, in(work));
  }

  [[nodiscard]] bool has_transactions_side_by_side() const noexcept override {
    return Database::has_transactions_side_by_side;
  }
  void catch_up() override {
    if constexpr (requires { Database::catch_up(outside_); }) Database::catch_up(outside_);
  }

  [[nodiscard]] bool has_several_writers() const override { return has_several_writers_; }
  [[nodiscard]] std::string numbered_column() const override { return Database::numbered_column; }

 private:
  static auto in(const task& work) {
    return [&work](transaction& used) {
      typename Database::line_in line{used};
      work(line);
    };
  }

  std::unique_ptr<connection> connection_;
  typename Database::line_outside outside_;
  bool has_several_writers_ = false;
};

}  // namespace rowlock::tests

#endif
