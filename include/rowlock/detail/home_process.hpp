// The process in which something was made, and the copies that fork() makes of it.
#ifndef ROWLOCK_DETAIL_HOME_PROCESS_HPP
#define ROWLOCK_DETAIL_HOME_PROCESS_HPP

#include <memory>
#include <utility>

#include "rowlock/error.hpp"

namespace rowlock::detail {

/// How many times this process is a copy of a copy: fork() itself counts, which costs those who ask
/// less than the system's number of the process would.
unsigned forks() noexcept;

/// After fork() the child has a copy of everything, but of one thread only: connections are shared
/// with the parent, mutexes may be locked by threads that the child does not have, and threads to
/// be joined do not exist. So whatever has one of these asks first whether it is at home, and
/// touches nothing if not.
///
/// Thread-safety: const members may be called from any thread.
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

/// Destroys what it owns at home only. In a child of fork() it is left as it is, for ever.
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
