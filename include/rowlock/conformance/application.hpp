// What an application does on its own connection, in the same words for every database.
#ifndef ROWLOCK_CONFORMANCE_APPLICATION_HPP
#define ROWLOCK_CONFORMANCE_APPLICATION_HPP

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rowlock/fence.hpp"
#include "rowlock/lock_keys.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry_policy.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/version.hpp"

namespace rowlock::conformance {

/// One transaction, and what an application does in it with the functions that a store brings for
/// the transactions of its database: `lock_rows`, `fence` and their kind. Destroying it rolls back
/// what was not committed.
///
/// Thread-safety: one thread at a time.
class app_transaction {
 public:
  app_transaction() = default;
  app_transaction(const app_transaction&) = delete;
  app_transaction& operator=(const app_transaction&) = delete;
  virtual ~app_transaction() = default;

  virtual outcome<row_lock> lock_rows(const lock_keys& keys, const retry_policy& wait) = 0;
  virtual outcome<version> read_version(const lock_key& key) = 0;
  virtual commit_result try_commit(const lock_key& key, version seen) = 0;
  virtual void fence(const fenced_leases& leases) = 0;
  virtual void release_with(const fenced_leases& leases, const release_options& options = {}) = 0;
  virtual void commit() = 0;

  /// The application's own work: a list of notes beside the lock table, to which transactions add
  /// without waiting for each other.
  virtual void write_note(const std::string& text) = 0;
  /// Those that are committed, and this transaction's own.
  virtual std::vector<std::string> notes() = 0;
};

using app_work = std::function<int(app_transaction&)>;

/// One connection, for one transaction at a time. The last three are the templates of their names,
/// on transactions of this database.
///
/// Thread-safety: one thread at a time.
class app_connection {
 public:
  app_connection() = default;
  app_connection(const app_connection&) = delete;
  app_connection& operator=(const app_connection&) = delete;
  virtual ~app_connection() = default;

  virtual outcome<std::unique_ptr<app_transaction>> begin() = 0;
  virtual outcome<int> with_row_lock(const lock_keys& keys, const retry_policy& wait,
                                     const app_work& work) = 0;
  virtual outcome<int> with_optimistic_commit(const lock_key& key, const app_work& work) = 0;
  virtual int run_fenced(const fenced_leases& leases, const app_work& work,
                         const fenced_run_options& options) = 0;

  /// The notes that are committed.
  std::vector<std::string> notes() { return (*begin())->notes(); }
};

}  // namespace rowlock::conformance

#endif
