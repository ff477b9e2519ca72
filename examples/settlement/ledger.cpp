// The statements of the ledger. They run on PostgreSQL and on SQLite as they are.
#include "ledger.hpp"

#include <set>
#include <utility>

namespace settlement {
namespace {

// SQLite takes $1 for a name and numbers names as it meets them: in every statement here $1 comes
// first, then $2, and so on.

constexpr auto create_accounts = R"sql(
CREATE TABLE account (
  name          text PRIMARY KEY,
  opening_cents bigint NOT NULL,
  balance_cents bigint NOT NULL
))sql";

constexpr auto create_invoices = R"sql(
CREATE TABLE invoice (
  id            text PRIMARY KEY,
  from_account  text NOT NULL REFERENCES account,
  to_account    text NOT NULL REFERENCES account,
  amount_cents  bigint NOT NULL,
  settled_count integer NOT NULL DEFAULT 0,
  settled_by    text
))sql";

constexpr auto insert_account = R"sql(
INSERT INTO account (name, opening_cents, balance_cents)
VALUES ($1, CAST($2 AS bigint), CAST($2 AS bigint))
)sql";

constexpr auto insert_invoice = R"sql(
INSERT INTO invoice (id, from_account, to_account, amount_cents) VALUES ($1, $2, $3, $4)
)sql";

constexpr auto select_unsettled = R"sql(
SELECT id, from_account, to_account, amount_cents
  FROM invoice
 WHERE settled_count = 0 AND id > $1
 ORDER BY id
 LIMIT $2
)sql";

constexpr auto select_settled_count = "SELECT settled_count FROM invoice WHERE id = $1";

constexpr auto select_balance = "SELECT balance_cents FROM account WHERE name = $1";

constexpr auto update_balance = "UPDATE account SET balance_cents = $1 WHERE name = $2";

// Unconditional on purpose: an invoice that is settled twice has to show.
constexpr auto update_invoice = R"sql(
UPDATE invoice SET settled_count = settled_count + 1, settled_by = $1 WHERE id = $2
)sql";

constexpr auto count_invoices = R"sql(
SELECT count(*), coalesce(sum(CASE WHEN settled_count = 1 THEN 1 ELSE 0 END), 0) FROM invoice
)sql";

constexpr auto sum_accounts = R"sql(
SELECT coalesce(sum(opening_cents), 0), coalesce(sum(balance_cents), 0) FROM account
)sql";

constexpr auto select_balances = "SELECT name, balance_cents FROM account";

constexpr auto count_by_worker = R"sql(
SELECT settled_by, count(*) FROM invoice WHERE settled_count > 0 GROUP BY settled_by
)sql";

using rows = std::vector<std::vector<std::string>>;

std::map<std::string, std::int64_t> as_map(const rows& found) {
  std::map<std::string, std::int64_t> result;
  for (const auto& pair : found) result.emplace(pair[0], std::stoll(pair[1]));
  return result;
}

// `run` is a `ledger::statements`, a name that only derived classes may use.
template <class Run>
void move_money(const Run& run, const invoice& due, const std::string& worker) {
  const auto balance = [&](const std::string& account) {
    return std::stoll(run(select_balance, {account}).at(0).at(0));
  };
  // By name, so that PostgreSQL does not meet a deadlock when the locks are missing.
  std::map<std::string, std::int64_t> balances{{due.from_account, balance(due.from_account)},
                                               {due.to_account, balance(due.to_account)}};
  balances[due.from_account] -= due.amount_cents;
  balances[due.to_account] += due.amount_cents;
  for (const auto& [account, cents] : balances) {
    run(update_balance, {std::to_string(cents), account});
  }
  run(update_invoice, {worker, due.id});
}

}  // namespace

void ledger::create(const std::vector<invoice>& invoices) {
  std::set<std::string> accounts;
  for (const auto& due : invoices) accounts.insert({due.from_account, due.to_account});

  in_transaction([&](const statements& run) {
    run(create_accounts, {});
    run(create_invoices, {});
    for (const auto& account : accounts) {
      run(insert_account, {account, std::to_string(opening_balance_cents)});
    }
    for (const auto& due : invoices) {
      run(insert_invoice,
          {due.id, due.from_account, due.to_account, std::to_string(due.amount_cents)});
    }
  });
}

std::vector<invoice> ledger::unsettled_after(const std::string& id, int most) {
  std::vector<invoice> found;
  for (auto& line : query(select_unsettled, {id, std::to_string(most)})) {
    found.push_back({.id = std::move(line[0]),
                     .from_account = std::move(line[1]),
                     .to_account = std::move(line[2]),
                     .amount_cents = std::stoll(line[3])});
  }
  return found;
}

bool ledger::is_settled(const std::string& id) {
  return query(select_settled_count, {id}).at(0).at(0) != "0";
}

rowlock::outcome<void> ledger::settle(const invoice& due, const std::string& worker,
                                      const rowlock::lease& held) {
  const rowlock::lock_keys accounts{{.type = "account", .source_id = due.from_account},
                                    {.type = "account", .source_id = due.to_account}};
  return in_locking_transaction(accounts, held,
                                [&](const statements& run) { move_money(run, due, worker); });
}

void ledger::settle_without_locks(const invoice& due, const std::string& worker) {
  in_transaction([&](const statements& run) { move_money(run, due, worker); });
}

audit ledger::examine() {
  const auto counts = query(count_invoices, {}).at(0);
  const auto sums = query(sum_accounts, {}).at(0);
  return {.invoices = std::stoll(counts[0]),
          .settled_once = std::stoll(counts[1]),
          .opening_cents = std::stoll(sums[0]),
          .balance_cents = std::stoll(sums[1]),
          .balances = as_map(query(select_balances, {})),
          .settled_by = as_map(query(count_by_worker, {}))};
}

}  // namespace settlement
