// The values of statements: bound values, and lists of rows.
#include "mysql/values.hpp"

namespace rowlock::mysql {

namespace {

std::string hex_of(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += digits[byte >> 4U];
    hex += digits[byte & 0xFU];
  }
  return hex;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string bound_value::text() const {
  switch (kind_) {
    case kind::integer:
      return std::to_string(number_);
    case kind::null:
      return "NULL";
    case kind::ascii:
      return "_ascii X'" + hex_of(content_) + "'";
    case kind::json:
      return "_utf8mb4'" + content_ + "'";
    case kind::utf8:
      return "_utf8mb4 X'" + hex_of(content_) + "'";
    case kind::bytes:
      break;
  }
  return "X'" + hex_of(content_) + "'";
}

void json_rows::row::separate() {
  if (!text_.empty()) text_ += ',';
}

json_rows::row& json_rows::row::word(std::string_view text) {
  separate();
  text_ += '"';
  text_ += text;
  text_ += '"';
  return *this;
}

json_rows::row& json_rows::row::hex(std::string_view text) { return word(hex_of(text)); }

json_rows::row& json_rows::row::number(std::int64_t value) {
  separate();
  text_ += std::to_string(value);
  return *this;
}

json_rows json_rows::only(const std::vector<std::size_t>& places) const {
  json_rows chosen;
  for (const auto place : places) chosen.rows_.push_back(rows_.at(place));
  return chosen;
}

bound_value json_rows::value() const {
  std::string text = "[";
  for (const auto& each : rows_) {
    if (&each != &rows_.front()) text += ',';
    text += '[' + each + ']';
  }
  return bound_value{bound_value::kind::json, text + ']'};
}

std::string with_places(std::string_view sql,
                        const std::function<std::string(std::size_t)>& written) {
  std::string text;
  for (std::size_t at = 0; at < sql.size(); ++at) {
    if (sql[at] != '$' || at + 1 == sql.size() || !is_digit(sql[at + 1])) {
      text += sql[at];
      continue;
    }
    std::size_t number = 0;
    for (; at + 1 < sql.size() && is_digit(sql[at + 1]); ++at) {
      number = 10 * number + static_cast<std::size_t>(sql[at + 1] - '0');
    }
    text += written(number - 1);
  }
  return text;
}

}  // namespace rowlock::mysql
