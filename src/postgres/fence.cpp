// Fences in a transaction on PostgreSQL.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "postgres/requests.hpp"
#include "postgres/sql/rows.hpp"
#include "postgres/sql/transactions.hpp"
#include "postgres/transaction.hpp"
#include "postgres/values.hpp"
#include "rowlock/error.hpp"

namespace rowlock::postgres {

namespace {

using detail::fence_try;

/// The keys and versions of leases, as parameters of the statements.
struct rows_of_leases {
  explicit rows_of_leases(const fenced_leases& leases) {
    for (const lease& each : leases.all()) {
      keys.push_back(&each.key());
      versions.push_back(each.token().number);
    }
  }

  key_list keys;
  std::vector<std::int64_t> versions;
};

/// The reason why not all rows could be fenced.
fence_try why_not(caller_transaction& used, const rows_of_leases& rows, const table_name& table) {
  const bound_values values{types_of(rows.keys), ids_of(rows.keys)};
  const auto result = used.execute_or_conflict(statement_for(table, sql::read), values, &table);
  std::vector<std::optional<version>> seen(rows.keys.size());
  for (const auto row : result) {
    const auto index = row.place();
    if (index >= seen.size() || seen[index]) throw_two_rows_of_a_key();
    seen[index] = version{row.number("version")};
  }
  auto found = fence_try::in_use;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    found = std::max(found, detail::why_not_fenced(seen[i], version{rows.versions[i]}));
  }
  return found;
}

std::vector<version> versions_in(const std::string& listed) {
  std::istringstream text{listed};
  std::vector<version> versions;
  for (version each{}; text >> each.number;) versions.push_back(each);
  return versions;
}

std::string_view fence_of(fence_kind kind) {
  return kind == fence_kind::write ? sql::fence_by_writing : sql::fence_by_sharing;
}

}  // namespace

proof prove(transaction_connection& used, const fenced_leases& leases, const fence_options& options,
            std::span<const release_request> releases, naming name, const table_name& table) {
  if (options.idle_limit <= std::chrono::milliseconds::zero()) {
    throw error{errc::misuse, "the idle limit of a fence must be above zero"};
  }
  caller_transaction caller{used};
  const bool is_release = !releases.empty();
  const postgres_table locks{table};
  const auto& statement =
      statement_for(locks, is_release ? sql::release_with : fence_of(options.kind));
  const rows_of_leases rows{leases};
  require_same_keys(used, rows.keys);
  const auto values_with = [&](auto... more) {
    return bound_values{types_of(rows.keys),
                        ids_of(rows.keys),
                        array_of(rows.versions, [](std::int64_t version) { return version; }),
                        std::int64_t{options.idle_limit.count()},
                        name == naming::wanted,
                        std::move(more)...};
  };
  const auto released = all(releases);
  const auto values =
      is_release ? values_with(array_of(released, stay_closed_in), array_of(released, done_for_in))
                 : values_with();
  proof proved{};
  proved.of_rows.found = detail::prove_patiently(leases, [&] {
    const auto result = caller.execute_or_conflict(statement, values, &table);
    const auto fenced = result.front();
    if (static_cast<std::size_t>(fenced.number("fenced")) == rows.keys.size()) {
      proved.name = fenced.text("name");
      if (is_release) proved.of_rows.unset_as = versions_in(fenced.text("versions"));
      return fence_try::held;
    }
    return why_not(caller, rows, table);
  });
  return proved;
}

}  // namespace rowlock::postgres
