// The accounts and the invoices in a database, whichever it is.
#ifndef ROWLOCK_EXAMPLE_LEDGER_HPP
#define ROWLOCK_EXAMPLE_LEDGER_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "invoice.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"

namespace settlement {

/// What the database says when all is over.
struct audit {
  std::int64_t invoices = 0;
  std::int64_t settled_once = 0;
  std::int64_t opening_cents = 0;
  std::int64_t balance_cents = 0;
  std::map<std::string, std::int64_t> balances = {};
  /// Invoices by the worker that settled them last.
  std::map<std::string, std::int64_t> settled_by = {};
};

/// One connection to the ledger. A database gives it three ways to run statements; what the
/// statements are is the same for all.
///
/// Thread-safety: one thread at a time.
class ledger {
 public:
  static constexpr std::int64_t opening_balance_cents = 10'000'000;

  ledger() = default;
  ledger(const ledger&) = delete;
  ledger& operator=(const ledger&) = delete;
  virtual ~ledger() = default;

  /// Creates the tables and fills them.
  void create(const std::vector<invoice>& invoices);

  /// The next invoices that are not settled, at most `most`, in the order of their ids.
  std::vector<invoice> unsettled_after(const std::string& id, int most);
  bool is_settled(const std::string& id);

  /// Moves the money and marks the invoice, in one transaction that holds the rows of both
  /// accounts and is fenced with the lease on the invoice: whoever was paused until another worker
  /// took it over gets `lease_lost`, and nothing has happened. Refused when the accounts were
  /// locked by others for too long.
  ///
  /// It reads the balances, calculates, and writes them, and it counts each settlement: nothing in
  /// it would make up for a lock that does not hold.
  rowlock::outcome<void> settle(const invoice& due, const std::string& worker,
                                const rowlock::lease& held);

  /// The same transaction, but nobody else is kept out.
  void settle_without_locks(const invoice& due, const std::string& worker);

  audit examine();

 protected:
  using row = std::vector<std::string>;
  /// Runs one statement in the transaction at hand, with `values` for its $1, $2, ...
  using statements = std::function<std::vector<row>(const char* sql, const row& values)>;
  using transaction_body = std::function<void(const statements& run)>;

 private:
  /// One statement, outside any transaction.
  virtual std::vector<row> query(const char* sql, const row& values) = 0;
  virtual void in_transaction(const transaction_body& body) = 0;
  /// Commits only if the lease is still held when `body` is through.
  virtual rowlock::outcome<void> in_locking_transaction(const rowlock::lock_keys& keys,
                                                        const rowlock::lease& held,
                                                        const transaction_body& body) = 0;
};

}  // namespace settlement

#endif
