// Objects with static storage that no exit destroys.
#ifndef ROWLOCK_BASE_NEVER_DESTROYED_HPP
#define ROWLOCK_BASE_NEVER_DESTROYED_HPP

#include <memory>
#include <utility>

namespace rowlock::detail {

/// Makes an object that is never destroyed, for a static reference to it (a
/// `const std::reference_wrapper` if the object changes). `exit()` destroys statics
/// while threads run, and the application's own statics, which may be a store or a `lock_table`,
/// after those that were made later. Both may use the object.
template <class Kept, class... Arguments>
Kept& never_destroyed(Arguments&&... arguments) {
  return *std::make_unique<Kept>(std::forward<Arguments>(arguments)...).release();
}

}  // namespace rowlock::detail

#endif
