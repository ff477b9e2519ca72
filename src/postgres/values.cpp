// Bound values in, result rows out.
#include "postgres/values.hpp"

#include <charconv>
#include <chrono>
#include <utility>

#include "rowlock/error.hpp"

namespace rowlock::postgres {

namespace {

[[noreturn]] void refuse() {
  throw error{errc::rejected,
              "the answer does not fit its statement: is there something between us and PostgreSQL "
              "that rewrites statements?"};
}

}  // namespace

void throw_two_rows_of_a_key() {
  throw error{
      errc::rejected,
      "PostgreSQL answered more than one row for a key: look whether the table still has its "
      "primary key (lock_type, source_id), and is no partitioned one; what this call has "
      "granted stays granted until its ttl is over"};
}

std::optional<std::string_view> result_set::row::cell(std::string_view column) const {
  const auto& kept = *of_.kept_;
  for (std::size_t i = 0; i < kept.columns(); ++i) {
    if (kept.name(i) == column) return kept.cell(index_, i);
  }
  refuse();
}

std::string result_set::row::text(std::string_view column) const {
  return std::string{cell(column).value_or("")};
}

std::int64_t result_set::row::number(std::string_view column) const {
  const auto found = cell(column);
  if (!found) refuse();
  std::int64_t parsed = 0;
  const auto* end = found->data() + found->size();
  const auto [stopped, failure] = std::from_chars(found->data(), end, parsed);
  if (failure != std::errc{} || stopped != end) refuse();
  return parsed;
}

std::optional<std::chrono::microseconds> result_set::row::duration(std::string_view column) const {
  if (is_null(column)) return std::nullopt;
  return std::chrono::microseconds{number(column)};
}

bool result_set::row::flag(std::string_view column) const {
  const auto found = cell(column);
  if (found != "t" && found != "f") refuse();
  return found == "t";
}

std::size_t result_set::row::place() const { return static_cast<std::size_t>(number("place")) - 1; }

result_set::row result_set::front() const {
  if (empty()) refuse();
  return {*this, 0};
}

void array_literal::separate() {
  if (!elements_.empty()) elements_ += ',';
}

void array_literal::add(std::string_view element) {
  separate();
  elements_ += '"';
  for (const char c : element) {
    if (c == '"' || c == '\\') elements_ += '\\';
    elements_ += c;
  }
  elements_ += '"';
}

void array_literal::add(std::int64_t element) {
  separate();
  elements_ += std::to_string(element);
}

void array_literal::add(bool element) {
  separate();
  elements_ += element ? 't' : 'f';
}

void array_literal::add(const std::optional<std::int64_t>& element) {
  if (element) return add(*element);
  separate();
  elements_ += "NULL";
}

using std::chrono::microseconds;

seen_row seen_in(const result_set::row& found, lock_key key) {
  seen_row seen;
  row_state& state = seen.state;
  state.key = std::move(key);
  state.version = {found.number("version")};
  state.owned = !found.is_null("owner");
  state.failure_count = found.number("failure_count");
  state.expiry_count = found.number("expiry_count");
  state.note = found.text("note");
  state.force_reason = found.text("force_reason");
  state.forced_at = found.text("forced_at");
  state.forced_from = found.text("forced_from");
  state.is_waited_for = found.flag("is_waited_for");
  seen.owner = found.text("owner");
  seen.left = microseconds{found.number("remaining_us")};
  if (state.owned || seen.left > microseconds::zero()) {
    state.holder = found.text("holder");
    state.remaining = seen.left;
  }
  if (state.owned) {
    state.acquired_at = found.text("acquired_at");
    state.held_for = found.duration("since_us");
    state.ttl = found.duration("ttl_us");
    state.correlation_id = found.text("correlation_id");
  } else if (!found.is_null("ended_at")) {
    state.last = last_use{.holder = found.text("holder"),
                          .from = found.text("acquired_at"),
                          .until = found.text("ended_at"),
                          .how = found.text("ended_as"),
                          .held_for = found.duration("lasted_us")};
  }
  const microseconds remembered{found.number("done_left_us")};
  if (remembered > microseconds::zero()) {
    // The table accepts a done mark without a grant, which a statement written by hand may leave.
    const auto by = found.is_null("done_by") ? 0 : found.number("done_by");
    state.done = done_mark{{by}, found.text("done_at"), remembered};
  }
  return seen;
}

}  // namespace rowlock::postgres
