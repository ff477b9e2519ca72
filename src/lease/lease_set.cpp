// Leases that go together.
#include "rowlock/lease_set.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lease/lease_keeper.hpp"

namespace rowlock {

namespace {

bool is_before(const lease& one, const lease& other) { return one.key() < other.key(); }

}  // namespace

lease_set::lease_set(std::stop_source lost, std::vector<lease> leases) noexcept
    : lost_{std::move(lost)}, leases_{std::move(leases)} {
  std::sort(leases_.begin(), leases_.end(), is_before);
}

lease_set::lease_set(lease_set&& other) noexcept = default;

lease_set& lease_set::operator=(lease_set&& other) noexcept {
  if (this != &other) {
    release();
    lost_ = std::move(other.lost_);
    leases_ = std::move(other.leases_);
  }
  return *this;
}

lease_set::~lease_set() {
  const bool may_be_unset =
      std::any_of(leases_.begin(), leases_.end(), [](const lease& each) { return each.rides(); });
  if (!may_be_unset) release();  // otherwise each ends by itself, without waiting for an answer
}

const lease* lease_set::find(const lock_key& key) const {
  const auto found = std::lower_bound(
      leases_.begin(), leases_.end(), key,
      [](const lease& each, const lock_key& wanted) { return each.key() < wanted; });
  return found != leases_.end() && found->key() == key ? &*found : nullptr;
}

boot_clock::time_point lease_set::valid_until() const noexcept {
  auto earliest = boot_clock::time_point::max();
  for (const auto& each : leases_) earliest = std::min(earliest, each.valid_until());
  return earliest;
}

bool lease_set::is_valid() const noexcept {
  return std::all_of(leases_.begin(), leases_.end(),
                     [](const lease& each) { return each.is_valid(); });
}

boot_clock::duration lease_set::remaining() const noexcept {
  auto least = boot_clock::duration::max();
  for (const auto& each : leases_) least = std::min(least, each.remaining());
  return least;
}

void lease_set::take(lease_set other) {
  std::move(other.leases_.begin(), other.leases_.end(), std::back_inserter(leases_));
  other.leases_.clear();
  std::sort(leases_.begin(), leases_.end(), is_before);
}

release_result lease_set::release() noexcept { return release(detail::work_end{}); }

release_result lease_set::release_after_failure() noexcept { return release({.failed = true}); }

release_result lease_set::release(const detail::work_end& how) noexcept {
  return lease::release_all(leases_, how);
}

release_result lease_set::release(const lock_key& key) noexcept {
  const auto* found = find(key);
  if (found == nullptr) return release_result::lost;
  const auto place = leases_.begin() + (found - leases_.data());
  const auto result = place->release();
  leases_.erase(place);
  return result;
}

}  // namespace rowlock
