// Fences on PostgreSQL.
#include <algorithm>
#include <cstdint>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "postgres/caller_transaction.hpp"
#include "postgres/key_list.hpp"
#include "postgres/seen_row.hpp"
#include "rowlock/error.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock {

namespace {

using detail::fence_try;
using postgres::bound_values;
using postgres::caller_transaction;
using postgres::ids_of;
using postgres::types_of;

/// Leases as what the statements take.
struct fenced_rows {
  explicit fenced_rows(const fenced_leases& leases) {
    for (const lease& each : leases.all()) {
      keys.push_back(&each.key());
      versions.push_back(each.token().number);
    }
  }

  postgres::key_list keys;
  std::vector<std::int64_t> versions;
};

/// Whether all rows still have the versions of their leases.
bool are_as_granted(caller_transaction& used, const fenced_rows& rows, const table_name& table) {
  const bound_values values{types_of(rows.keys), ids_of(rows.keys)};
  const auto seen = used.execute_or_conflict(postgres::statements_for(table).look, values, &table);
  std::size_t same = 0;
  for (const auto& row : seen) {
    const auto place = row["place"].as<std::size_t>() - 1;
    const auto state = postgres::seen_in(row, *rows.keys[place]).state;
    if (state.owned && state.version.number == rows.versions[place]) ++same;
  }
  return same == rows.keys.size();
}

enum class naming { unwanted, wanted };

/// The name of the transaction, if it is wanted.
std::string prove(pqxx::transaction_base& transaction, const fenced_leases& leases,
                  const std::string& statement, std::chrono::milliseconds idle_limit, naming name,
                  const table_name& table) {
  if (dynamic_cast<pqxx::subtransaction*>(&transaction) != nullptr) {
    throw error{
        errc::misuse,
        "a fence inside a pqxx::subtransaction is undone when that is rolled back: fence the "
        "transaction itself"};
  }
  if (idle_limit <= std::chrono::milliseconds::zero()) {
    throw error{errc::misuse, "the idle limit of a fence must be above zero"};
  }
  caller_transaction used{transaction};
  const fenced_rows rows{leases};
  const bound_values values{
      types_of(rows.keys), ids_of(rows.keys),
      postgres::array_of(rows.versions, [](std::int64_t version) { return version; }),
      std::int64_t{idle_limit.count()}, name == naming::wanted};
  std::string named;
  const auto proved = detail::prove_patiently([&] {
    const auto answered = used.execute_or_conflict(statement, values, &table);
    if (answered[0]["fenced"].as<std::size_t>() == rows.keys.size()) {
      named = answered[0]["name"].as<std::string>(std::string{});
      return fence_try::held;
    }
    return are_as_granted(used, rows, table) ? fence_try::in_use : fence_try::lost;
  });
  if (proved == fence_try::held) return named;
  transaction.abort();
  detail::throw_not_proved(proved);
}

std::string fence(pqxx::transaction_base& transaction, const fenced_leases& leases,
                  const fence_options& options, naming name, const table_name& table) {
  const auto& statements = postgres::statements_for(table);
  const bool is_write = options.kind == fence_kind::write;
  return prove(transaction, leases,
               is_write ? statements.fence_by_writing : statements.fence_by_sharing,
               options.idle_limit, name, table);
}

std::string release_with(pqxx::transaction_base& transaction, const fenced_leases& leases,
                         naming name, const table_name& table) {
  auto named = prove(transaction, leases, postgres::statements_for(table).release_with,
                     fence_options{}.idle_limit, name, table);
  for (const lease& each : leases.all()) detail::lease_riding::begin(each);
  return named;
}

}  // namespace

void fence(pqxx::transaction_base& transaction, const fenced_leases& leases,
           const fence_options& options, const table_name& table) {
  fence(transaction, leases, options, naming::unwanted, table);
}

void release_with(pqxx::transaction_base& transaction, const fenced_leases& leases,
                  const table_name& table) {
  release_with(transaction, leases, naming::unwanted, table);
}

std::string detail::prove_named(pqxx::transaction_base& transaction, const fenced_leases& leases,
                                const fenced_run_options& options, const table_name& table) {
  return options.release ? release_with(transaction, leases, naming::wanted, table)
                         : fence(transaction, leases, options.fence, naming::wanted, table);
}

}  // namespace rowlock
