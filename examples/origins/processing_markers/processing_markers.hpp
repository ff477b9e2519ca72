// PROCESSING and PROCESSED markers: a message that comes several times is processed once.
#ifndef ROWLOCK_EXAMPLES_ORIGINS_PROCESSING_MARKERS_PROCESSING_MARKERS_HPP
#define ROWLOCK_EXAMPLES_ORIGINS_PROCESSING_MARKERS_PROCESSING_MARKERS_HPP

#include <chrono>
#include <exception>
#include <memory>
#include <string>

#include "rowlock/lock_table.hpp"

namespace origins {

enum class marker { none, processing, processed };

struct marker_options {
  /// Both times are to be tuned: how long a thing takes at most, and how long the same message may
  /// come again.
  std::chrono::milliseconds processing = std::chrono::seconds{20};
  std::chrono::milliseconds processed = std::chrono::seconds{200};
  /// What the original could not promise: PROCESSING lasts as long as the thing takes, and 20 s is
  /// only how long others wait after a crash.
  bool renew = false;
  std::shared_ptr<rowlock::time_source> time = rowlock::system_time();
};

/// Thread-safety: all members may be called from any thread.
class processing_markers {
 public:
  struct result {
    /// What the call met; `none`: it has done the thing.
    marker met = marker::none;
    /// What the original could not promise: false if PROCESSING had expired before the thing was
    /// done, so that another call may have done it as well. The marker is that call's then.
    bool is_marked = true;
  };

  explicit processing_markers(rowlock::store& rows, marker_options options = {})
      : options_{std::move(options)},
        locks_{rows, {.ttl = options_.processing, .renew = options_.renew, .time = options_.time}} {
  }

  /// The simple form: sets a marker if there is none, and then does the thing. The marker stays,
  /// also if the thing fails. Returns whether the thing was done.
  template <class Thing>
  bool do_if_absent(const std::string& key, Thing&& thing) {
    std::exception_ptr thrown;
    const auto done = locks_.with_lock_once(row_of(key),
                                            [&] {
                                              try {
                                                thing();
                                              } catch (...) {
                                                thrown = std::current_exception();
                                              }
                                            },
                                            {.keep_for = options_.processed});
    if (thrown) std::rethrow_exception(thrown);
    return done.acquired();
  }

  /// The better form. Sets PROCESSING if there is no marker, and does the thing. If that succeeds,
  /// the marker is PROCESSED; if it throws, the marker is deleted at once, and the exception handed
  /// on. The thing takes `const rowlock::lease&` or nothing.
  template <class Thing>
  result do_if_acquired(const std::string& key, Thing&& thing) {
    const auto done =
        locks_.with_lock_once(row_of(key),
                              [&](const rowlock::lease& held) {
                                if constexpr (std::is_invocable_v<Thing&, const rowlock::lease&>) {
                                  thing(held);
                                } else {
                                  thing();
                                }
                              },
                              {.keep_for = options_.processed});
    if (done.acquired()) return {.is_marked = done.kept()};
    const bool is_processed = done.refusal().reason == rowlock::refusal_reason::already_done;
    return {.met = is_processed ? marker::processed : marker::processing};
  }

  [[nodiscard]] marker look(const std::string& key) {
    const auto found = locks_.look(row_of(key));
    if (found && found->is_live()) return marker::processing;
    return found && found->done ? marker::processed : marker::none;
  }

  [[nodiscard]] static rowlock::lock_key row_of(const std::string& key) { return {"message", key}; }

 private:
  const marker_options options_;
  rowlock::lock_table locks_;
};

}  // namespace origins

#endif
