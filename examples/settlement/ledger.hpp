// The accounts and the invoices in a database of any kind.
#ifndef ROWLOCK_EXAMPLE_LEDGER_HPP
#define ROWLOCK_EXAMPLE_LEDGER_HPP

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rowlock/lease.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"

namespace settlement {

struct invoice {
  std::string id;
  std::string from_account;
  std::string to_account;
  std::int64_t amount_cents = 0;
};

/// The first `most` invoices of a file with the columns `invoice,from_account,to_account,
/// amount_cents` and a heading. Throws std::runtime_error that names the line that cannot be read,
/// and for a file that has fewer.
std::vector<invoice> read_invoices(const std::filesystem::path& csv, std::size_t most);

/// What the database shows at the end.
struct audit {
  std::int64_t invoices = 0;
  std::int64_t settled_once = 0;
  std::int64_t opening_cents = 0;
  std::int64_t balance_cents = 0;
  std::map<std::string, std::int64_t> balances = {};
  /// Invoices by the worker that settled them last.
  std::map<std::string, std::int64_t> settled_by = {};
};

/// One connection to the ledger. Each database implements three ways to run statements; the
/// statements are the same for all.
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
  /// accounts and is fenced with the lease on the invoice: a worker that was paused until another
  /// one took it over gets `lease_lost`, and nothing has happened. Refused when the accounts were
  /// locked by others for too long.
  ///
  /// It reads the balances, calculates, and writes them, and it counts each settlement: any failure
  /// of a lock shows in the data.
  rowlock::outcome<void> settle(const invoice& due, const std::string& worker,
                                const rowlock::lease& held);

  /// The same transaction without locks and fence.
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

/// The lock table of the same file is `shared_lock`.
std::unique_ptr<ledger> open_sqlite_ledger(const std::string& path);
/// The lock table is `shared_lock` in the same schema. `schema` needs no quotes.
std::unique_ptr<ledger> open_postgres_ledger(const std::string& connection_string,
                                             const std::string& schema);

}  // namespace settlement

#endif
