// Values in statements for MariaDB and MySQL.
#include "mysql/mysql_values.hpp"

#include <utility>

namespace rowlock::through_soci {

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

mysql_value mysql_value::ascii(std::string_view text) {
  return mysql_value{"_ascii X'" + hex_of(text) + "'"};
}

mysql_value mysql_value::utf8(std::string_view text) {
  return mysql_value{"_utf8mb4 X'" + hex_of(text) + "'"};
}

mysql_value mysql_value::bytes(std::string_view text) {
  return mysql_value{"X'" + hex_of(text) + "'"};
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

mysql_value json_rows::value() const {
  std::string text = "_utf8mb4'[";
  for (const auto& each : rows_) {
    if (&each != &rows_.front()) text += ',';
    text += '[' + each + ']';
  }
  return mysql_value{text + "]'"};
}

std::string with_values(std::string_view sql, std::initializer_list<mysql_value> values) {
  std::string text;
  for (std::size_t at = 0; at < sql.size(); ++at) {
    if (sql[at] != '$' || at + 1 == sql.size() || !is_digit(sql[at + 1])) {
      text += sql[at];
      continue;
    }
    const auto place = static_cast<std::size_t>(sql[++at] - '1');
    text += (values.begin() + place)->text();
  }
  return text;
}

}  // namespace rowlock::through_soci
