// Which exceptions mean "run the whole transaction again", as the databases' libraries told.
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>

#include "rowlock/error.hpp"
#include "rowlock/retry.hpp"

namespace rowlock::detail {

namespace {

using conflict_test = bool (*)(const std::exception&);

/// One for each driver, and drivers are few.
std::array<std::atomic<conflict_test>, 8>& known_tests() noexcept {
  static std::array<std::atomic<conflict_test>, 8> tests{};
  return tests;
}

}  // namespace

void recognise_conflicts(conflict_test test) noexcept {
  for (auto& place : known_tests()) {
    conflict_test found = nullptr;
    if (place.compare_exchange_strong(found, test) || found == test) return;
  }
}

bool is_conflict(const std::exception& thrown) noexcept {
  for (const auto& place : known_tests()) {
    const conflict_test test = place.load();
    if (test == nullptr) return false;
    if (test(thrown)) return true;
  }
  return false;
}

bool is_unavailable(const std::exception& thrown) noexcept {
  const auto* fault = dynamic_cast<const error*>(&thrown);
  return fault != nullptr && fault->kind() == errc::unavailable;
}

}  // namespace rowlock::detail
