// What fences of all databases have in common.
#include "rowlock/fence.hpp"

#include <exception>
#include <set>
#include <sstream>

namespace rowlock {

fenced_leases::fenced_leases(const lease& one) : leases_{one} {
  detail::lease_riding::require_home(one);
}

fenced_leases::fenced_leases(std::initializer_list<std::reference_wrapper<const lease>> leases)
    : leases_{leases} {
  check();
}

fenced_leases::fenced_leases(std::span<const lease> leases)
    : leases_{leases.begin(), leases.end()} {
  check();
}

void fenced_leases::check() const {
  if (leases_.empty()) throw error{errc::misuse, "no lease to fence with: name at least one"};
  std::set<lock_key> keys;
  for (const lease& each : leases_) {
    detail::lease_riding::require_home(each);
    if (!keys.insert(each.key()).second) {
      throw error{errc::misuse, "two of the leases to fence with are of one key: name it once"};
    }
  }
}

namespace detail {

void released_by_commit(const fenced_leases& leases) noexcept {
  for (const lease& each : leases.all()) lease_riding::commit(each);
}

void released_in_doubt(const fenced_leases& leases) noexcept {
  for (const lease& each : leases.all()) lease_riding::doubt(each);
}

void check_valid(const fenced_leases& leases) {
  for (const lease& each : leases.all()) {
    if (!each.is_valid()) throw_lease_lost();
  }
}

void throw_lease_lost() {
  throw lease_lost{
      "the row does not carry this lease's version: the lease is over (released, taken over or "
      "taken "
      "away), or it was granted by another database or table; stop the work that needed it"};
}

void ask_in_doubt(const error& fault, const std::string& name, const fenced_run_options& options) {
  if (fault.kind() != errc::outcome_unknown || name.empty()) throw;
  switch (options.in_doubt(name)) {
    case commit_fate::committed:
      return;
    case commit_fate::rolled_back:
      std::throw_with_nested(
          error{errc::unavailable,
                "the answer to the commit got lost, and the database says that the transaction was "
                "rolled back: run it again on a new connection while the lease is valid"});
    case commit_fate::unknown:
      throw;
  }
}

bool prove_patiently(const std::function<fence_try()>& try_once) {
  using std::chrono::milliseconds;
  for (milliseconds pause{1};; pause *= 2) {
    const auto tried = try_once();
    if (tried != fence_try::in_use) return tried == fence_try::held;
    if (pause > milliseconds{64}) return false;
    system_time()->sleep_until(boot_clock::now() + pause, {});
  }
}

}  // namespace detail
}  // namespace rowlock
