// Compares the database with the CSV file.
#include "proof.hpp"

#include <algorithm>
#include <iomanip>
#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "rowlock/port/store.hpp"

namespace settlement {
namespace {

struct claim {
  std::string text;
  bool holds = false;
  /// For people.
  std::string found;
};

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

/// The money: from the ledger and from the CSV file.
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

/// For each worker that was killed: another one took its lease over.
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
    claims.push_back({.text = "as many workers were killed as requested",
                      .holds = enough,
                      .found = of(std::ssize(claims), kills) +
                               (enough ? "" : ", the work was over too soon: try more invoices")});
  }
  return claims;
}

/// For those that paused: the fence kept each of them from settling what another had settled.
std::vector<claim> prove_fences(unsigned pauses, const shared_counts& counts) {
  if (pauses == 0) return {};
  unsigned fenced = 0;
  for (unsigned number = 0; number < pauses; ++number) fenced += counts.of(number).lost > 0 ? 1 : 0;
  return {{.text = "each worker that paused until its invoice was taken over had to let it go",
           .holds = fenced == pauses,
           .found = of(fenced, pauses)}};
}

/// Leases on these invoices that ran out and were taken over.
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

/// One line for each worker. What it settled is from the database; the rest it counted itself.
void print_workers(std::ostream& out, const course& ended, const audit& found,
                   const shared_counts& counts) {
  out << "\nworker       settled   refused: held   busy   settled before   lost   end\n";
  for (unsigned number = 0; number < ended.workers.size(); ++number) {
    const auto& one = ended.workers[number];
    const auto& own = counts.of(number);
    const auto settled = found.settled_by.find(one.name);
    out << std::left << std::setw(10) << one.name << std::right  //
        << std::setw(10) << (settled == found.settled_by.end() ? 0 : settled->second)
        << std::setw(16) << own.refused_held << std::setw(7) << own.refused_busy  //
        << std::setw(17) << own.already_settled << std::setw(7) << own.lost << "   " << one.ending;
    if (!one.unfinished.empty()) out << ", held " << one.unfinished;
    out << '\n';
  }
}

void print_throughput(std::ostream& out, const course& ended, const audit& found) {
  const double seconds = ended.duration.count();
  out << std::fixed << std::setprecision(1) << "throughput: " << found.invoices << " invoices in "
      << seconds << " s, " << static_cast<double>(found.invoices) / seconds << " per second\n";
}

/// True if all of them hold.
bool print_claims(std::ostream& out, const std::vector<claim>& claims) {
  bool all_hold = true;
  for (const auto& one : claims) {
    out << (one.holds ? "  holds   " : "  FAILS   ") << one.text << ": " << one.found << '\n';
    all_hold = all_hold && one.holds;
  }
  return all_hold;
}

}  // namespace

bool print_proof(std::ostream& out, const plan& planned, const std::vector<invoice>& invoices,
                 const course& ended, const scratch_database& database,
                 const shared_counts& counts) {
  const auto locks = database.open_store();
  const auto found = database.open_ledger()->examine();
  print_workers(out, ended, found, counts);
  out << "\ntakeovers: " << count_takeovers(invoices, *locks) << '\n';
  print_throughput(out, ended, found);

  out << "\nproof, from the database:\n";
  bool all_is_well = true;
  for (const auto& claims :
       {prove_settlement(invoices, found), prove_takeovers(ended.workers, planned.kills, *locks),
        prove_fences(planned.pauses, counts)}) {
    all_is_well = print_claims(out, claims) && all_is_well;
  }
  for (const auto& one : ended.workers) all_is_well = all_is_well && one.succeeded;
  out << (all_is_well ? "PROVEN" : "NOT PROVEN") << std::endl;
  return all_is_well;
}

}  // namespace settlement
