// Fences, by way of SOCI.
#include <soci/soci.h>

#include "rowlock/error.hpp"
#include "rowlock/soci.hpp"
#include "soci/dialect.hpp"

namespace rowlock {

namespace {

using through_soci::fenced_rows;

void prove(::soci::session& session, const fenced_leases& leases, const fence_options& options,
           fenced_rows then, const soci_table& table) {
  if (options.idle_limit <= std::chrono::milliseconds::zero()) {
    throw error{errc::misuse, "the idle limit of a fence must be above zero"};
  }
  const auto& spoken = through_soci::dialect_of(session);
  const auto proved = spoken.prove(session, leases, options, then, table);
  if (proved == detail::fence_try::held) return;
  spoken.roll_back(session);
  detail::throw_not_proved(proved);
}

}  // namespace

void fence(::soci::session& transaction, const fenced_leases& leases, const fence_options& options,
           const soci_table& table) {
  prove(transaction, leases, options, fenced_rows::stay, table);
}

void release_with(::soci::session& transaction, const fenced_leases& leases,
                  const soci_table& table) {
  prove(transaction, leases, {}, fenced_rows::are_unset, table);
  for (const lease& each : leases.all()) detail::lease_riding::begin(each);
}

}  // namespace rowlock
