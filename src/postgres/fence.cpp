// Fences in a transaction on PostgreSQL.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
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

// The setting is an integer of milliseconds.
constexpr std::chrono::milliseconds longest_idle_limit{std::numeric_limits<std::int32_t>::max()};

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

/// Whether this is the common case: one lease without marks, in a transaction without a name.
bool is_common(const rows_of_leases& rows, std::span<const release_request> releases, naming name) {
  return rows.keys.size() == 1 && name == naming::unwanted &&
         (releases.empty() || only_unsets(releases.front()));
}

/// The statement for several leases, for marks, or for a name.
std::string_view statement_of(fence_kind kind, std::span<const release_request> releases) {
  if (!releases.empty()) return sql::release_with;
  return kind == fence_kind::write ? sql::fence_by_writing : sql::fence_by_sharing;
}

/// `p_action` of shared_lock_fence.
std::string action_of(fence_kind kind, std::span<const release_request> releases) {
  if (!releases.empty()) return "release";
  return kind == fence_kind::write ? "write" : "share";
}

}  // namespace

proof prove(transaction_connection& used, const fenced_leases& leases, const fence_options& options,
            std::span<const release_request> releases, naming name, const table_name& table) {
  if (options.idle_limit <= std::chrono::milliseconds::zero()) {
    throw error{errc::misuse, "the idle limit of a fence must be above zero"};
  }
  caller_transaction caller{used};
  const bool is_release = !releases.empty();
  const rows_of_leases rows{leases};
  require_same_keys(used, rows.keys);
  const bool is_one = is_common(rows, releases, name);
  const postgres_table locks{table};
  const auto& statement =
      statement_for(locks, is_one ? sql::fence_one : statement_of(options.kind, releases));
  const auto idle_limit =
      std::to_string(std::min(options.idle_limit, longest_idle_limit).count()) + "ms";
  const auto values_of_one = [&] {
    const auto& [type, source_id] = *rows.keys.front();
    return bound_values{type, source_id, rows.versions.front(), idle_limit,
                        action_of(options.kind, releases)};
  };
  const auto values_with = [&](auto... more) {
    return bound_values{types_of(rows.keys),
                        ids_of(rows.keys),
                        array_of(rows.versions, [](std::int64_t version) { return version; }),
                        idle_limit,
                        name == naming::wanted,
                        std::move(more)...};
  };
  const auto released = all(releases);
  const auto values = is_one       ? values_of_one()
                      : is_release ? values_with(array_of(released, stay_closed_in),
                                                 array_of(released, done_for_or_zero_in))
                                   : values_with();
  proof proved{};
  const auto try_once = [&] {
    const auto result = caller.execute_or_conflict(statement, values, &table);
    const auto answer = result.front();
    const bool is_fenced =
        is_one ? !answer.is_null("version")
               : answer.number("fenced") == static_cast<std::int64_t>(rows.keys.size());
    if (!is_fenced) return why_not(caller, rows, table);
    if (name == naming::wanted) proved.name = answer.text("name");
    if (is_release) {
      proved.of_rows.unset_as = versions_in(answer.text(is_one ? "version" : "versions"));
    }
    return fence_try::held;
  };
  proved.of_rows.found = detail::prove_patiently(leases, try_once);
  if (proved.of_rows.found == fence_try::in_use) {
    const auto is_refused = [&] { return try_once() == fence_try::in_use; };
    proved.loses_changes = loses_changes(used, rows.keys, locks, is_refused);
  }
  return proved;
}

}  // namespace rowlock::postgres
