// Maps the memory that the processes share.
#include "scoreboard.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <system_error>
#include <thread>

namespace settlement {

using namespace std::chrono_literals;

scoreboard::scoreboard() {
  void* memory =
      ::mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error{errno, std::generic_category(), "mmap"};
  shared_ = std::construct_at(static_cast<shared*>(memory));
}

scoreboard::~scoreboard() { ::munmap(shared_, sizeof(shared)); }

std::uint64_t scoreboard::settled() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& one : shared_->scores) sum += one.settled;
  return sum;
}

std::uint64_t scoreboard::refused() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& one : shared_->scores) sum += one.refused_held + one.refused_busy;
  return sum;
}

void scoreboard::meet(unsigned workers) noexcept {
  ++shared_->arrived;
  const auto until = std::chrono::steady_clock::now() + 5s;
  while (shared_->arrived < workers && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace settlement
