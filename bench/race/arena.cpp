// What the processes of one measurement share.
#include "race/arena.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <new>
#include <system_error>

namespace rowlock::race {

static_assert(std::atomic<stage>::is_always_lock_free, "or processes could not share it");

shared_arena::shared_arena() {
  void* const memory =
      mmap(nullptr, sizeof(arena), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error{errno, std::generic_category(), "mmap"};
  arena_ = new (memory) arena;
}

shared_arena::~shared_arena() {
  arena_->~arena();
  munmap(arena_, sizeof(arena));
}

}  // namespace rowlock::race
