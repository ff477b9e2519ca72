// How often this thread has called operator new.
#include "race/allocations.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace rowlock::race {

namespace {
thread_local std::uint64_t allocations = 0;  // NOLINT(*-avoid-non-const-global-variables): a count
}

std::uint64_t allocations_of_this_thread() noexcept { return allocations; }

}  // namespace rowlock::race

// NOLINTBEGIN(*-no-malloc, *-owning-memory, misc-new-delete-overloads): that is their job
void* operator new(std::size_t size) {
  ++rowlock::race::allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
// NOLINTEND(*-no-malloc, *-owning-memory, misc-new-delete-overloads)
