// The part of fencing common to all databases.
#include "rowlock/fence.hpp"

#include <exception>
#include <set>

#include "base/limits.hpp"
#include "base/pause.hpp"

namespace rowlock {

fenced_leases::fenced_leases(const lease& one) : leases_{one} {
  detail::transactional_release::require_home(one);
}

fenced_leases::fenced_leases(std::initializer_list<std::reference_wrapper<const lease>> leases)
    : leases_{leases} {
  check();
}

fenced_leases::fenced_leases(std::span<const lease> leases)
    : leases_{leases.begin(), leases.end()} {
  check();
}

fenced_leases::fenced_leases(const std::vector<lease>& leases)
    : fenced_leases{std::span<const lease>{leases}} {}

fenced_leases::fenced_leases(const lease_set& leases) : fenced_leases{leases.leases()} {}

void fenced_leases::check() const {
  if (leases_.empty()) throw error{errc::misuse, "no lease to fence with: name at least one"};
  std::set<lock_key> keys;
  for (const lease& each : leases_) {
    detail::transactional_release::require_home(each);
    if (!keys.insert(each.key()).second) {
      throw error{errc::misuse, "two of the leases to fence with are of one key: name it once"};
    }
  }
}

namespace detail {

std::vector<release_request> to_release(const fenced_leases& leases,
                                        const release_options& options) {
  std::vector<release_request> requests;
  requests.reserve(leases.all().size());
  for (const lease& each : leases.all()) {
    auto& request = requests.emplace_back(transactional_release::to_release(each));
    if (options.done_for) request.done_for = in_microseconds(*options.done_for);
    check(request);
  }
  return requests;
}

void released_within(const fenced_leases& leases, const std::vector<version>& unset_as) noexcept {
  for (std::size_t i = 0; i < unset_as.size(); ++i) {
    transactional_release::begin(leases.all()[i], unset_as[i]);
  }
}

void released_by_commit(const fenced_leases& leases) noexcept {
  for (const lease& each : leases.all()) transactional_release::commit(each);
}

void released_in_doubt(const fenced_leases& leases) noexcept {
  for (const lease& each : leases.all()) transactional_release::doubt(each);
}

namespace {

bool are_valid(const fenced_leases& leases) {
  const auto all = leases.all();
  return std::all_of(all.begin(), all.end(), [](const lease& each) { return each.is_valid(); });
}

}  // namespace

void check_valid(const fenced_leases& leases) {
  if (!are_valid(leases)) throw_not_proved(leases, fence_try::over);
}

void check_valid(const fenced_leases& leases, const transaction_report& report) {
  if (are_valid(leases)) return;
  report.emit(transaction_result::refused);
  throw_not_proved(leases, fence_try::over);
}

void throw_not_proved(const fenced_leases& leases, fence_try last) {
  if (last == fence_try::over) {
    throw lease_lost{
        "the lease is over (its deadline has come, or it was released or lost): stop "
        "the work that needed it"};
  }
  // The transaction may have used another table; only the row in the lease's own store decides
  // whether it is lost.
  if (last == fence_try::lost) transactional_release::read_for_losses(leases.all());
  if (last == fence_try::in_use) {
    throw lease_lost{
        "another transaction has had the row for a tenth of a second, so the lease cannot be "
        "proved; "
        "it may still be held: end the other transaction, and run this one again"};
  }
  if (last == fence_try::unseen) {
    throw lease_lost{
        "this transaction does not see that the lease was granted. If its isolation is above READ "
        "COMMITTED, it began before the grant: the lease may still be held, so begin another one, "
        "and fence before any other statement. If not, the lease was granted by another database "
        "or table, or is over (released or taken over, and its row deleted)"};
  }
  throw lease_lost{
      "the row does not carry this lease's version: the lease is over (released, taken over or "
      "taken away), or it was granted by another database or table; stop the work that needed it"};
}

void resolve_doubt(const error& fault, const std::string& name, const fenced_run_options& options) {
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

fence_try why_not_fenced(std::optional<version> seen, version granted) {
  if (!seen || *seen < granted) return fence_try::unseen;
  return *seen == granted ? fence_try::in_use : fence_try::lost;
}

fence_try prove_patiently(const fenced_leases& leases, const std::function<fence_try()>& try_once) {
  const transaction_report report{transaction_work::fence, leases.all().size(),
                                  [&] { return leases.all()[0].get().key(); }};
  auto last = fence_try::in_use;
  try_for_a_moment(*system_time(), {}, [&] {
    last = are_valid(leases) ? try_once() : fence_try::over;
    return last == fence_try::held || last == fence_try::lost || last == fence_try::over;
  });
  report.emit(last == fence_try::held ? transaction_result::granted : transaction_result::refused);
  return last;
}

}  // namespace detail
}  // namespace rowlock
