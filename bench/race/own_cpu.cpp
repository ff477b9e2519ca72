// What a protocol adds to the CPU of the client, compared with a bare loop.
#include "race/own_cpu.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>

#include "race/cpu_time.hpp"

namespace rowlock::race {

namespace {

class two_contenders final : public contender {
 public:
  two_contenders(std::unique_ptr<contender> bare, std::unique_ptr<contender> ours)
      : sides_{side{.makes_pairs = std::move(bare)}, side{.makes_pairs = std::move(ours)}} {}

  bool take(const lock_key& key) override {
    begun_ = cpu_of_this_thread();
    if (!now().makes_pairs->take(key)) {
      throw std::runtime_error{"CPU is measured of keys that are free: leave out --act and --keys"};
    }
    return true;
  }
  bool take_waiting(const lock_key& /*key*/, const std::stop_token& /*stop*/) override {
    throw std::runtime_error{"CPU is measured of pairs: leave out --act"};
  }
  void give_back() override {
    auto& by = now();
    by.makes_pairs->give_back();
    const auto used = cpu_of_this_thread() - begun_;
    // The first pairs prepare statements.
    if (++pairs_ > 2 * first_pairs) {
      by.cpu += used;
      ++by.pairs;
    }
  }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> own_cpu_each() const override {
    const auto& [bare, ours] = sides_;
    if (bare.pairs == 0 || ours.pairs == 0) return std::nullopt;
    return ours.cpu / ours.pairs - bare.cpu / bare.pairs;
  }

 private:
  static constexpr std::uint64_t first_pairs = 100;  // of each

  struct side {
    std::unique_ptr<contender> makes_pairs;
    std::chrono::nanoseconds cpu{};
    std::int64_t pairs = 0;
  };

  // Bare, ours, ours, bare: each follows itself as often as the other.
  side& now() { return sides_[(pairs_ + 1) / 2 % sides_.size()]; }

  std::array<side, 2> sides_;
  std::uint64_t pairs_ = 0;
  std::chrono::nanoseconds begun_{};
};

}  // namespace

contender_factory in_turns_with(contender_factory bare, contender_factory ours) {
  return [bare = std::move(bare), ours = std::move(ours)] {
    return std::make_unique<two_contenders>(bare(), ours());
  };
}

}  // namespace rowlock::race
