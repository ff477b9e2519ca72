// Optimistic possession of several keys.
#ifndef ROWLOCK_LEASE_SET_HPP
#define ROWLOCK_LEASE_SET_HPP

#include <cstddef>
#include <span>
#include <stop_token>
#include <vector>

#include "rowlock/boot_clock.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/lock_key.hpp"

namespace rowlock {

/// Several leases that are renewed, fenced and released together: one statement each. A parameter
/// of type `fenced_leases` takes it. An empty one is of no key: valid, with nothing to release, and
/// no proof for a fence.
///
/// Thread-safety: as of a lease.
class lease_set {
 public:
  lease_set(lease_set&& other) noexcept;
  lease_set& operator=(lease_set&& other) noexcept;
  lease_set(const lease_set&) = delete;
  lease_set& operator=(const lease_set&) = delete;
  /// Releases quietly what nobody has released. Never throws.
  ~lease_set();

  /// In the order of their keys. Each has its own `token()`, and is released with the others only.
  [[nodiscard]] std::span<const lease> leases() const noexcept { return leases_; }
  [[nodiscard]] std::size_t size() const noexcept { return leases_.size(); }
  [[nodiscard]] bool empty() const noexcept { return leases_.empty(); }
  /// Null: the key is not in the set.
  [[nodiscard]] const lease* find(const lock_key& key) const;

  /// Requested when the first of them is lost.
  [[nodiscard]] std::stop_token lost() const noexcept { return lost_.get_token(); }
  /// The earliest deadline; the end of time for an empty set.
  [[nodiscard]] boot_clock::time_point valid_until() const noexcept;
  /// Whether all of them are valid.
  [[nodiscard]] bool is_valid() const noexcept;
  /// Until `valid_until()`; zero when not valid.
  [[nodiscard]] boot_clock::duration remaining() const noexcept;

  /// Unsets the rows: one statement, and again for about 100 ms where somebody's transaction has
  /// one. The worst of the results; `released` for an empty set. Never throws.
  release_result release() noexcept;
  /// Of one key, whose lease leaves the set; `lost` if it is not in it.
  release_result release(const lock_key& key) noexcept;

 private:
  friend class lock_table;
  friend class read_write_lock;

  lease_set(std::stop_source lost, std::vector<lease> leases) noexcept;

  /// The leases of the other set, too. It must have been acquired to tell the same `lost()`.
  void take(lease_set other);
  release_result release(const detail::work_end& how) noexcept;
  release_result release_after_failure() noexcept;

  std::stop_source lost_;
  std::vector<lease> leases_;
};

}  // namespace rowlock

#endif
