// Fences on PostgreSQL.
#include "dialects/postgres/fence_calls.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dialects/postgres/caller_transaction.hpp"
#include "dialects/postgres/key_list.hpp"
#include "dialects/postgres/seen_row.hpp"
#include "rowlock/error.hpp"

namespace rowlock::postgres {

namespace {

using detail::fence_try;

/// Leases as what the statements take.
struct fenced_rows {
  explicit fenced_rows(const fenced_leases& leases) {
    for (const lease& each : leases.all()) {
      keys.push_back(&each.key());
      versions.push_back(each.token().number);
    }
  }

  key_list keys;
  std::vector<std::int64_t> versions;
};

/// Whether all rows still have the versions of their leases.
bool are_as_granted(caller_transaction& used, const fenced_rows& rows, const table_name& table) {
  const bound_values values{types_of(rows.keys), ids_of(rows.keys)};
  const auto seen = used.execute_or_conflict(statements_for(table).look, values, &table);
  std::size_t same = 0;
  for (const auto row : seen) {
    const auto place = row.place();
    const auto state = seen_in(row, *rows.keys[place]).state;
    if (state.owned && state.version.number == rows.versions[place]) ++same;
  }
  return same == rows.keys.size();
}

/// The name of the transaction, if it is wanted.
std::string prove(transaction_line& line, const fenced_leases& leases, const std::string& statement,
                  std::chrono::milliseconds idle_limit, naming name, const table_name& table) {
  if (idle_limit <= std::chrono::milliseconds::zero()) {
    throw error{errc::misuse, "the idle limit of a fence must be above zero"};
  }
  caller_transaction used{line};
  const fenced_rows rows{leases};
  const bound_values values{types_of(rows.keys), ids_of(rows.keys),
                            array_of(rows.versions, [](std::int64_t version) { return version; }),
                            std::int64_t{idle_limit.count()}, name == naming::wanted};
  std::string named;
  const auto proved = detail::prove_patiently([&] {
    const auto answered = used.execute_or_conflict(statement, values, &table);
    const auto told = answered.front();
    if (static_cast<std::size_t>(told.number("fenced")) == rows.keys.size()) {
      named = told.text("name");
      return fence_try::held;
    }
    return are_as_granted(used, rows, table) ? fence_try::in_use : fence_try::lost;
  });
  if (proved == fence_try::held) return named;
  line.abort();
  detail::throw_not_proved(proved);
}

}  // namespace

std::string fence(transaction_line& used, const fenced_leases& leases, const fence_options& options,
                  naming name, const table_name& table) {
  const auto& statements = statements_for(table);
  const bool is_write = options.kind == fence_kind::write;
  return prove(used, leases, is_write ? statements.fence_by_writing : statements.fence_by_sharing,
               options.idle_limit, name, table);
}

std::string release_with(transaction_line& used, const fenced_leases& leases, naming name,
                         const table_name& table) {
  auto named = prove(used, leases, statements_for(table).release_with, fence_options{}.idle_limit,
                     name, table);
  for (const lease& each : leases.all()) detail::lease_riding::begin(each);
  return named;
}

}  // namespace rowlock::postgres
