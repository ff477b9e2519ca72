// Bound values in, result rows out.
#include "postgres/values.hpp"

#include "rowlock/error.hpp"
#include "store/found_columns.hpp"

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

seen_row seen_in(const result_set::row& found, lock_key key) {
  auto seen = detail::row_from(found, std::move(key));
  seen.state.is_waited_for = found.flag("is_waited_for");
  return seen;
}

lock_event event_in(const result_set::row& found) { return detail::event_from(found); }

}  // namespace rowlock::postgres
