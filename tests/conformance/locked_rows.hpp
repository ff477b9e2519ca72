// Another session's transaction that has rows locked.
#ifndef ROWLOCK_TESTS_CONFORMANCE_LOCKED_ROWS_HPP
#define ROWLOCK_TESTS_CONFORMANCE_LOCKED_ROWS_HPP

#include <memory>
#include <utility>

#include "support/store_bench.hpp"

namespace rowlock::tests {

/// A transaction on a connection of its own, rolled back at the latest when it is destroyed.
class open_transaction {
 public:
  explicit open_transaction(store_bench& bench)
      : connection_{bench.connect()}, transaction_{std::move(*connection_->begin())} {}

  app_transaction* operator->() { return transaction_.get(); }
  void commit() {
    transaction_->commit();
    transaction_.reset();
  }
  void roll_back() { transaction_.reset(); }

 private:
  std::unique_ptr<app_connection> connection_;
  std::unique_ptr<app_transaction> transaction_;
};

/// One that has locked `keys`.
class locked_rows {
 public:
  locked_rows(store_bench& bench, const lock_keys& keys)
      : transaction_{bench}, rows_{*transaction_->lock_rows(keys, no_wait())} {}

  /// The version that the first of the rows got at the lock.
  [[nodiscard]] rowlock::version version() const { return rows_.rows.front().version; }
  void commit() { transaction_.commit(); }
  void roll_back() { transaction_.roll_back(); }

 private:
  open_transaction transaction_;
  row_lock rows_;
};

}  // namespace rowlock::tests

#endif
