// Watches on keys: a callback gets each new state.
#ifndef ROWLOCK_WATCH_HPP
#define ROWLOCK_WATCH_HPP

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "rowlock/detail/export.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock {

namespace detail {
class lease_keeper;
class watched_entry;
}  // namespace detail

/// A key as a watch sees it.
struct watched_key {
  lock_key key;
  /// None: no process has used the key yet, or its row was purged.
  std::optional<row_state> row = std::nullopt;
  /// Why the database could not be read; `row` is then what was read last. Empty: it was read.
  std::string fault = {};
};

using watch_callback = std::function<void(const watched_key&)>;

/// Calls a callback while it exists: see `lock_table::watch`. May outlive the `lock_table`. Does
/// nothing in a child of fork(). A moved-from one calls nothing.
///
/// Thread-safety: one thread at a time.
class ROWLOCK_EXPORT key_watch {
 public:
  key_watch(key_watch&& other) noexcept;
  key_watch& operator=(key_watch&& other) noexcept;
  key_watch(const key_watch&) = delete;
  key_watch& operator=(const key_watch&) = delete;
  /// Waits for a call under way, unless that call destroys it.
  ~key_watch();

 private:
  friend class lock_table;

  key_watch(std::shared_ptr<detail::lease_keeper> keeper,
            std::shared_ptr<detail::watched_entry> added) noexcept;
  void end() noexcept;

  std::shared_ptr<detail::lease_keeper> keeper_;
  std::shared_ptr<detail::watched_entry> added_;
};

}  // namespace rowlock

#endif
