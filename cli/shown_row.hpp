// Formatting of a row, for people and for programs.
#ifndef ROWLOCK_CLI_SHOWN_ROW_HPP
#define ROWLOCK_CLI_SHOWN_ROW_HPP

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "rowlock/port/store.hpp"

namespace rowlock::cli {

/// `held`, `closed` (unowned, but not granted yet), `busy` (a transaction has the row, which is
/// neither held nor closed), `run out` or `free`.
std::string state_of(const row_state& row);

/// `2026-01-31 12:00:00`, without the fraction.
std::string to_the_second(const std::string& database_time);

/// `renewed 3.0s ago, lease 30.0s`, `granted 3.0s ago, lease 30.0s`, `no sign for 27.0s, lease
/// 30.0s`, `clock fault: ...`; empty if the row has no owner, or was written by hand.
std::string liveness_of(const row_state& row);

/// The same for a narrow column: `3.0s ago`, `no sign 27.0s`, `clock fault`.
std::string short_liveness_of(const row_state& row);

/// The holder has not renewed its lease when it should have: half of it has passed.
bool has_no_sign(const row_state& row);

/// `held by web1:4711, 12.5s left (renewed 3.0s ago, lease 30.0s)`, `closed for another
/// 3.0s after web1:4711`, `free`, `busy: pid 4711 (shop) has the row`.
std::string possession_in_words(const row_state& row);

/// How many rows are in which state.
struct row_totals {
  std::uint64_t held = 0;
  std::uint64_t closed = 0;
  std::uint64_t run_out = 0;
  std::uint64_t silent = 0;
  std::uint64_t waited_for = 0;
  std::chrono::microseconds oldest{0};

  [[nodiscard]] std::uint64_t keys() const { return held + closed + run_out; }
  void add(const row_state& row);
  void add(const row_totals& other);
};

/// All that is known of the row; missing values are null, or an empty text.
nlohmann::ordered_json json_of(const row_state& row);
nlohmann::ordered_json json_of(const lock_event& event);

/// In ASCII, so that it is safe on a terminal too.
std::string json_text(const nlohmann::ordered_json& shown);
/// The same as a line.
void print_json(const nlohmann::ordered_json& shown);
/// The same without line breaks.
std::string compact_json(const nlohmann::ordered_json& shown);

}  // namespace rowlock::cli

#endif
