// Checks that an object is used in the process that made it, not in a child of fork().
#ifndef ROWLOCK_DETAIL_HOME_PROCESS_HPP
#define ROWLOCK_DETAIL_HOME_PROCESS_HPP

#include <memory>
#include <utility>

#include "rowlock/detail/export.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

/// The number of forks between the first process and this one. A fork() handler counts them:
/// cheaper than getpid().
ROWLOCK_EXPORT unsigned forks() noexcept;

/// A child of fork() has a copy of all memory but only one thread. It shares connections with its
/// parent, its mutexes may be locked by threads that it lacks, and it has no threads to join. So an
/// object that owns any of these checks this first, and touches nothing in a child. Thread-safety:
/// const members may be called from any thread.
class home_process {
 public:
  [[nodiscard]] bool is_here() const noexcept { return forks() == forks_before_; }

  /// Throws `error` (misuse) in a child.
  void require() const {
    if (is_here()) return;
    throw error{errc::misuse,
                "this was made before a fork(), by the parent process: make a new store and a new "
                "lock_table in the child"};
  }

 private:
  unsigned forks_before_ = forks();
};

/// Destroys the object in its home process only. A child of fork() leaks it on purpose.
struct delete_at_home {
  home_process home = {};

  template <class Owned>
  void operator()(Owned* owned) const {
    if (home.is_here()) delete owned;  // NOLINT(cppcoreguidelines-owning-memory): unique_ptr's own
  }
};

template <class Owned>
using owned_at_home = std::unique_ptr<Owned, delete_at_home>;

template <class Owned, class... Arguments>
owned_at_home<Owned> make_owned_at_home(Arguments&&... arguments) {
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the unique_ptr owns it
  return owned_at_home<Owned>{new Owned{std::forward<Arguments>(arguments)...}};
}

}  // namespace rowlock::detail

#endif
