// Compares the database with the CSV file.
#include "proof.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace settlement {
namespace {

std::map<std::string, std::int64_t> expected_balances(const std::vector<invoice>& invoices) {
  std::map<std::string, std::int64_t> balances;
  for (const auto& due : invoices) {
    balances.try_emplace(due.from_account, ledger::opening_balance_cents);
    balances.try_emplace(due.to_account, ledger::opening_balance_cents);
    balances[due.from_account] -= due.amount_cents;
    balances[due.to_account] += due.amount_cents;
  }
  return balances;
}

std::string of(std::int64_t some, std::int64_t all) {
  return std::to_string(some) + " of " + std::to_string(all);
}

std::int64_t sum_of_expiry_counts(const std::vector<rowlock::lock_key>& keys,
                                  rowlock::store& locks) {
  std::int64_t sum = 0;
  for (const auto& row : locks.read(keys)) {
    if (row) sum += row->expiry_count;
  }
  return sum;
}

}  // namespace

std::vector<claim> prove_settlement(const std::vector<invoice>& invoices, const audit& found) {
  const auto all = static_cast<std::int64_t>(invoices.size());
  const auto expected = expected_balances(invoices);
  const auto right = std::ranges::count_if(expected, [&found](const auto& account) {
    const auto stored = found.balances.find(account.first);
    return stored != found.balances.end() && stored->second == account.second;
  });
  return {
      {.text = "every invoice is settled exactly once",
       .holds = found.invoices == all && found.settled_once == all,
       .found = of(found.settled_once, found.invoices)},
      {.text = "the sum of all balances is what it was",
       .holds = found.balance_cents == found.opening_cents,
       .found = std::to_string(found.balance_cents) + " cents, was " +
                std::to_string(found.opening_cents)},
      {.text = "each account has what it must have by the CSV file",
       .holds = found.balances == expected,
       .found = of(right, std::ssize(expected))},
  };
}

std::vector<claim> prove_takeovers(const std::vector<worker_end>& workers, unsigned kills,
                                   rowlock::store& locks) {
  std::vector<claim> claims;
  for (const auto& one : workers) {
    if (one.unfinished.empty()) continue;
    const auto count = sum_of_expiry_counts({{"invoice", one.unfinished}}, locks);
    claims.push_back({.text = one.unfinished + ", in the hands of " + one.name +
                              " when it was killed, was taken over",
                      .holds = count > 0,
                      .found = std::to_string(count) + " time(s)"});
  }
  if (kills > 0) {
    const bool enough = claims.size() == kills;
    claims.push_back({.text = "as many workers were killed as was asked for",
                      .holds = enough,
                      .found = of(std::ssize(claims), kills) +
                               (enough ? "" : ", the work was over too soon: try more invoices")});
  }
  return claims;
}

std::vector<claim> prove_fences(unsigned pauses, scoreboard& board) {
  if (pauses == 0) return {};
  unsigned fenced = 0;
  for (unsigned number = 0; number < pauses; ++number) fenced += board.of(number).lost > 0 ? 1 : 0;
  return {{.text = "each worker that paused until its invoice was taken over had to let it go",
           .holds = fenced == pauses,
           .found = of(fenced, pauses)}};
}

std::int64_t count_takeovers(const std::vector<invoice>& invoices, rowlock::store& locks) {
  constexpr std::size_t at_once = 500;
  std::int64_t sum = 0;
  std::vector<rowlock::lock_key> keys;
  for (const auto& due : invoices) {
    keys.push_back({.type = "invoice", .source_id = due.id});
    if (keys.size() == at_once) sum += sum_of_expiry_counts(std::exchange(keys, {}), locks);
  }
  return keys.empty() ? sum : sum + sum_of_expiry_counts(keys, locks);
}

}  // namespace settlement
