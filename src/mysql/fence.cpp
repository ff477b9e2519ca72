// Fences in a transaction on MariaDB or MySQL.
#include <algorithm>
#include <optional>

#include "mysql/sql/transactions.hpp"
#include "mysql/transaction.hpp"
#include "rowlock/error.hpp"

namespace rowlock::mysql {

namespace {

/// The rows of the leases, as parameters of the statements.
class proof {
 public:
  proof(caller_transaction& caller, const fenced_leases& leases) : caller_{caller} {
    for (const lease& each : leases.all()) {
      keys_.push_back(&each.key());
      versions_.push_back(each.token());
      rows_.add(row_of(each.key()).number(each.token().number));
    }
  }

  detail::fence_try by_writing() { return by(sql::fence_by_writing, rows_); }

  detail::fence_try by_releasing(std::span<const release_request> releases) {
    json_rows unset;
    for (const auto& request : releases) {
      unset.add(with_what_stays(row_of(request.key).number(request.version.number), request));
    }
    return by(sql::release_with, unset);
  }

  /// The versions of rows that this transaction has changed. One round trip.
  std::vector<version> versions_now() {
    std::vector<version> versions;
    const auto seen = caller_.read(keys_).value();
    versions.reserve(seen.size());
    for (const auto& row : seen) versions.push_back(row.value().state.version);
    return versions;
  }

  detail::fence_try by_sharing() {
    const auto result = caller_.execute(sql::fence_by_sharing, {rows_.value()});
    if (!result.rows.empty() && caller_.is_in_cluster(result.rows.front().at(1))) {
      throw error{errc::misuse,
                  "a fence that shares the row holds on one node only of a cluster (Galera, or a "
                  "group of MySQL with several primaries): use fence_kind::write, the default"};
    }
    return result.rows.size() == keys_.size() ? detail::fence_try::held : why_not();
  }

 private:
  detail::fence_try by(std::string_view text, const json_rows& to_write) {
    const auto result = caller_.write_all(text, rows_, {to_write.value()});
    if (!result) return why_not();
    // A write reads the rows as they are now, whatever the transaction's snapshot.
    return result->affected == keys_.size() ? detail::fence_try::held : detail::fence_try::lost;
  }

  detail::fence_try why_not() {
    const auto seen = caller_.read(keys_);
    if (!seen) return detail::fence_try::in_use;
    auto found = detail::fence_try::in_use;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const auto& row = (*seen)[i];
      const auto version = row ? std::optional{row->state.version} : std::nullopt;
      found = std::max(found, detail::why_not_fenced(version, versions_[i]));
    }
    return found;
  }

  caller_transaction& caller_;
  key_list keys_;
  std::vector<version> versions_;
  json_rows rows_;
};

}  // namespace

detail::fence_proof prove(::soci::session& session, const fenced_leases& leases,
                          const fence_options& options, std::span<const release_request> releases,
                          const soci_table& table) {
  caller_transaction caller{session, table.table};
  caller.require_transaction();
  proof fence{caller, leases};
  detail::fence_proof proved{};
  proved.found = detail::prove_patiently(leases, [&] {
    if (!releases.empty()) return fence.by_releasing(releases);
    return options.kind == fence_kind::write ? fence.by_writing() : fence.by_sharing();
  });
  if (proved.found == detail::fence_try::held && !releases.empty()) {
    proved.unset_as = fence.versions_now();
  }
  return proved;
}

}  // namespace rowlock::mysql
