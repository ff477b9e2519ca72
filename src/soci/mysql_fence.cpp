// Fences in a transaction on MariaDB or MySQL.
#include <algorithm>
#include <optional>

#include "rowlock/error.hpp"
#include "soci/mysql_caller.hpp"

namespace rowlock::through_soci {

namespace {

/// Leases as what the statements take.
class proof {
 public:
  proof(mysql_caller& caller, const fenced_leases& leases) : caller_{caller} {
    for (const lease& each : leases.all()) {
      keys_.push_back(&each.key());
      versions_.push_back(each.token());
      rows_.add(row_of(each.key()).number(each.token().number));
    }
  }

  detail::fence_try by_writing(const std::string& sql) {
    const auto answered = caller_.at_once(sql, rows_, {rows_.value()});
    if (!answered) return why_not();
    // A write meets the rows as they are now, whatever the transaction's snapshot.
    return answered->affected == keys_.size() ? detail::fence_try::held : detail::fence_try::lost;
  }

  detail::fence_try by_sharing() {
    const auto answered = caller_.execute(caller_.statements().fence_by_sharing, {rows_.value()});
    if (!answered.rows.empty() && answered.rows.front().at(1).value_or("0") != "0") {
      throw error{errc::misuse,
                  "a fence that shares the row holds on one node of Galera only: use "
                  "fence_kind::write, the default"};
    }
    return answered.rows.size() == keys_.size() ? detail::fence_try::held : why_not();
  }

 private:
  detail::fence_try why_not() {
    const auto seen = caller_.look(keys_);
    if (!seen) return detail::fence_try::in_use;
    auto found = detail::fence_try::in_use;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const auto& row = (*seen)[i];
      const auto version = row ? std::optional{row->state.version} : std::nullopt;
      found = std::max(found, detail::why_not_fenced(version, versions_[i]));
    }
    return found;
  }

  mysql_caller& caller_;
  key_list keys_;
  std::vector<version> versions_;
  json_rows rows_;
};

}  // namespace

detail::fence_try prove_in_mysql(::soci::session& session, const fenced_leases& leases,
                                 const fence_options& options, fenced_rows then,
                                 const soci_table& table) {
  mysql_caller caller{session, table.table};
  caller.require_transaction();
  proof fence{caller, leases};
  const auto& sql = caller.statements();
  return detail::prove_patiently([&] {
    if (then == fenced_rows::are_unset) return fence.by_writing(sql.release_with);
    return options.kind == fence_kind::write ? fence.by_writing(sql.fence_by_writing)
                                             : fence.by_sharing();
  });
}

}  // namespace rowlock::through_soci
