// Markers that say that a thing is being processed, or has been: PROCESSING and PROCESSED.
#ifndef ROWLOCK_EXAMPLES_ORIGINS_PROCESSING_MARKERS_PROCESSING_MARKERS_HPP
#define ROWLOCK_EXAMPLES_ORIGINS_PROCESSING_MARKERS_PROCESSING_MARKERS_HPP

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rowlock/clock.hpp"
#include "rowlock/error.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/port/store.hpp"

namespace origins {

/// What a key says.
inline constexpr std::string_view processing_marker = "PROCESSING";
inline constexpr std::string_view processed_marker = "PROCESSED";

/// What a call did, or which of the two markers it met.
enum class process_status { done, processing, processed };

struct process_result {
  process_status status;
  /// Beyond the original. False after `done`: PROCESSED is not confirmed, because the time for
  /// PROCESSING was over or the database did not answer. So the thing may be done again.
  bool is_marked = false;
};

/// Both times are to be tuned.
struct marker_options {
  /// How long PROCESSING stays: longer than the thing takes. Above 200 ms, which the holder's own
  /// deadline comes earlier.
  std::chrono::milliseconds processing = std::chrono::seconds{20};
  /// How long PROCESSED stays: longer than calls with one key can be apart.
  std::chrono::milliseconds processed = std::chrono::seconds{200};
  /// Beyond the original: renew PROCESSING in the background as long as the thing runs. Then a slow
  /// thing keeps its key, and `processing` is how long the key of a dead process stays taken.
  bool renew = false;
  std::shared_ptr<rowlock::time_source> time = rowlock::system_time();
};

/// Does a thing once for each key, as far as the markers last.
///
/// Thread-safety: all members may be called from any thread. The store must outlive it.
class processing_markers {
 public:
  explicit processing_markers(rowlock::store& rows, marker_options options = {})
      : locks_{rows, {.ttl = options.processing, .renew = options.renew, .time = options.time}},
        processed_{options.processed} {}

  /// The simple form: sets the key if it is absent, and then does the thing; false if the key was
  /// there. The key stays, whether or not the thing fails: at most once.
  ///
  /// Throws what the thing throws, and `rowlock::error`. Without a confirmed key the thing is not
  /// done (outcome_unknown).
  template <class Thing>
  bool do_if_acquired(const std::string& key, Thing&& thing) {
    constexpr std::chrono::hours nearly_ten_years{24 * 3650};
    const auto set = locks_.with_lock_once(key_of(key), [] {}, {.keep_for = nearly_ten_years});
    if (!set.acquired()) return false;
    if (!set.kept()) {
      throw rowlock::error{rowlock::errc::outcome_unknown,
                           "the marker may or may not be set, so nothing was done: read the key"};
    }
    std::forward<Thing>(thing)();
    return true;
  }

  /// The better form: sets PROCESSING if the key is absent, does the thing, and sets PROCESSED.
  /// When the thing fails, deletes the key at once and hands the error on. A caller that finds a
  /// marker does nothing; the result names the marker. The thing takes `const rowlock::lease&` or
  /// nothing; what it returns is dropped.
  ///
  /// Throws what the thing throws, and `rowlock::error` as `lock_table::try_acquire` does.
  ///
  /// Beyond the original: a caller whose PROCESSING ran out and was taken over neither sets
  /// PROCESSED nor deletes the marker of its successor.
  template <class Thing>
  process_result do_once(const std::string& key, Thing&& thing) {
    const auto done = locks_.with_lock_once(key_of(key), thing, {.keep_for = processed_});
    if (done.acquired()) return {process_status::done, done.kept()};
    const bool is_done = done.refusal().reason == rowlock::refusal_reason::already_done;
    // Held, or busy: a transaction is changing the marker at this moment.
    return {is_done ? process_status::processed : process_status::processing};
  }

  /// What the key says: PROCESSING, PROCESSED, or nothing. One round trip.
  ///
  /// Both forms use the same rows, and the simple form sets its mark before the thing: its key says
  /// PROCESSED even if the thing failed.
  std::optional<std::string_view> get(const std::string& key) {
    const auto found = locks_.look(key_of(key));
    if (found && found->done) return processed_marker;
    if (found && found->is_live()) return processing_marker;
    return std::nullopt;
  }

  /// Beyond the original: `release_with(transaction, held, markers.as_processed())` in the thing
  /// sets PROCESSED with the commit of its transaction, or not at all. It throws
  /// `rowlock::lease_lost` if PROCESSING was taken over; then nothing of the transaction commits.
  [[nodiscard]] rowlock::release_options as_processed() const { return {.done_for = processed_}; }

  /// The row of a key.
  static rowlock::lock_key key_of(const std::string& key) {
    return {.type = "processing_marker", .source_id = key};
  }

 private:
  rowlock::lock_table locks_;
  const std::chrono::milliseconds processed_;
};

}  // namespace origins

#endif
