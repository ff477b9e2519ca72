// Fences, by way of SOCI.
#include <soci/soci.h>

#include <span>

#include "rowlock/error.hpp"
#include "rowlock/soci.hpp"
#include "soci/backend.hpp"

namespace rowlock {

namespace {

void prove(::soci::session& session, const fenced_leases& leases, const fence_options& options,
           std::span<const release_request> releases, const soci_table& table) {
  if (options.idle_limit <= std::chrono::milliseconds::zero()) {
    throw error{errc::misuse, "the idle limit of a fence must be above zero"};
  }
  const auto& spoken = through_soci::dialect_of(session);
  const auto proved = spoken.prove(session, leases, options, releases, table);
  if (proved.found != detail::fence_try::held) {
    spoken.roll_back(session);
    detail::throw_not_proved(leases, proved.found);
  }
  detail::released_within(leases, proved.unset_as);
}

}  // namespace

void fence(::soci::session& transaction, const fenced_leases& leases, const fence_options& options,
           const soci_table& table) {
  prove(transaction, leases, options, {}, table);
}

void release_with(::soci::session& transaction, const fenced_leases& leases,
                  const release_options& options, const soci_table& table) {
  prove(transaction, leases, {}, detail::to_release(leases, options), table);
}

}  // namespace rowlock
