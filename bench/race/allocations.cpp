// How often this thread has called operator new, and when that fails.
#include "race/allocations.hpp"

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

namespace rowlock::race {

namespace {
constexpr auto never = std::numeric_limits<std::uint64_t>::max();
// NOLINTBEGIN(*-avoid-non-const-global-variables): counts
thread_local std::uint64_t allocations = 0;
thread_local std::uint64_t fails_at = never;
// NOLINTEND(*-avoid-non-const-global-variables)
}  // namespace

std::uint64_t allocations_of_this_thread() noexcept { return allocations; }
void fail_allocations_after(std::uint64_t more) noexcept { fails_at = allocations + more; }
void fail_no_allocations() noexcept { fails_at = never; }

}  // namespace rowlock::race

// NOLINTBEGIN(*-no-malloc, *-owning-memory, misc-new-delete-overloads): that is their job
void* operator new(std::size_t size) {
  if (rowlock::race::allocations >= rowlock::race::fails_at) throw std::bad_alloc{};
  ++rowlock::race::allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
// NOLINTEND(*-no-malloc, *-owning-memory, misc-new-delete-overloads)
