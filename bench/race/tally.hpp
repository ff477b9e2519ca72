// Counts and latencies of one thread or of many.
#ifndef ROWLOCK_BENCH_RACE_TALLY_HPP
#define ROWLOCK_BENCH_RACE_TALLY_HPP

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace rowlock::race {

/// A histogram of durations in a fixed amount of memory, which processes can share. Each bucket is
/// a sixteenth of its value wide, so quantiles are right within 3 %.
class latencies {
 public:
  void add(std::chrono::nanoseconds one) noexcept {
    ++counts_[bucket_of(static_cast<std::uint64_t>(one.count() < 0 ? 0 : one.count()))];
  }
  void add(const latencies& more) noexcept {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += more.counts_[i];
  }

  /// As `add`, from many threads and processes at once.
  void add_shared(std::chrono::nanoseconds one) noexcept {
    auto& bucket =
        counts_[bucket_of(static_cast<std::uint64_t>(one.count() < 0 ? 0 : one.count()))];
    std::atomic_ref{bucket}.fetch_add(1, std::memory_order_relaxed);
  }
  /// Takes what `add_shared` has added, while it goes on.
  latencies take_shared() noexcept {
    latencies taken;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      taken.counts_[i] = std::atomic_ref{counts_[i]}.exchange(0, std::memory_order_relaxed);
    }
    return taken;
  }

  [[nodiscard]] std::uint64_t count() const noexcept {
    std::uint64_t all = 0;
    for (const auto each : counts_) all += each;
    return all;
  }

  /// That which a `share` of all did not exceed, 0.5 for the median; zero if there is none.
  [[nodiscard]] std::chrono::nanoseconds at(double share) const noexcept {
    const auto all = count();
    auto left = static_cast<std::uint64_t>(share * static_cast<double>(all));
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] > left) return std::chrono::nanoseconds{middle_of(i)};
      left -= counts_[i];
    }
    return {};
  }

 private:
  static constexpr int sub_bits = 4;
  static constexpr std::size_t subs = 1U << sub_bits;

  static std::size_t bucket_of(std::uint64_t value) noexcept {
    if (value < subs) return value;
    const auto exponent = static_cast<std::size_t>(std::bit_width(value)) - 1;
    return (exponent - sub_bits + 1) * subs + ((value >> (exponent - sub_bits)) & (subs - 1));
  }
  static std::int64_t middle_of(std::size_t bucket) noexcept {
    if (bucket < subs) return static_cast<std::int64_t>(bucket);
    const auto shift = bucket / subs - 1;
    const auto low = (subs + bucket % subs) << shift;
    return static_cast<std::int64_t>(low + (std::size_t{1} << shift) / 2);
  }

  std::array<std::uint64_t, (64 - sub_bits + 1) * subs> counts_{};
};

struct tally {
  std::uint64_t taken = 0;
  std::uint64_t refused = 0;
  std::uint64_t violations = 0;   ///< Two inside at once: of a hot key only.
  std::uint64_t allocations = 0;  ///< By operator new, in the threads that take and give back.
  std::chrono::nanoseconds thread_cpu{};
  std::chrono::nanoseconds process_cpu{};
  std::int64_t bytes_each = 0;  ///< Of a lease that is held, where that is measured.
  std::optional<std::chrono::nanoseconds> own_cpu_each;  ///< As `contender::own_cpu_each`.
  latencies each;      ///< A pair of take and give back; or a try that was refused.
  latencies handover;  ///< From before the release until another thread had the key.

  void add(const tally& more) noexcept {
    taken += more.taken;
    refused += more.refused;
    violations += more.violations;
    allocations += more.allocations;
    thread_cpu += more.thread_cpu;
    process_cpu += more.process_cpu;
    bytes_each = std::max(bytes_each, more.bytes_each);
    own_cpu_each = std::max(own_cpu_each, more.own_cpu_each);
    each.add(more.each);
    handover.add(more.handover);
  }
};

}  // namespace rowlock::race

#endif
