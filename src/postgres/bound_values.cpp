// The values that statements take, as text.
#include "postgres/bound_values.hpp"

namespace rowlock::postgres {

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

}  // namespace rowlock::postgres
