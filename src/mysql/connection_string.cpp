// Connection strings of MariaDB and MySQL: URLs, and parameters as SOCI reads them.
#include "mysql/connection_string.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "rowlock/error.hpp"
#include "rowlock/soci_store.hpp"

namespace rowlock::mysql {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

void skip_blanks(std::string_view text, std::size_t& at) {
  while (at < text.size() && is_blank(text[at])) ++at;
}

/// Returns the value that begins at `at`, and moves `at` past it.
std::string take_value(std::string_view text, std::size_t& at) {
  const bool is_quoted = at < text.size() && text[at] == '\'';
  if (is_quoted) ++at;
  std::string value;
  for (; at < text.size(); ++at) {
    if (is_quoted ? text[at] == '\'' : is_blank(text[at])) break;
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    value += text[at];
  }
  if (is_quoted) ++at;
  return value;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> connection_parameters::all() const {
  std::vector<std::pair<std::string, std::string>> found;
  std::size_t at = 0;
  while (at < text_.size()) {
    skip_blanks(text_, at);
    const auto end = text_.find('=', at);
    if (end == std::string::npos) break;
    auto last = end;
    while (last > at && is_blank(text_[last - 1])) --last;
    auto name = text_.substr(at, last - at);
    at = end + 1;
    skip_blanks(text_, at);
    found.emplace_back(std::move(name), take_value(text_, at));
  }
  return found;
}

std::optional<std::string> connection_parameters::value_of(std::string_view name) const {
  for (auto& [known, value] : all()) {
    if (known == name) return value;
  }
  return {};
}

void connection_parameters::add_unless_named(std::string_view name, std::string_view value) {
  if (value_of(name)) return;
  text_ += ' ';
  text_ += name;
  text_ += '=';
  text_ += value;
}

}  // namespace rowlock::mysql

namespace rowlock {

namespace {

constexpr std::string_view scheme = "mysql://";
constexpr std::string_view other_scheme = "mariadb://";

/// The parameters that a URL can only have after its `?`.
constexpr std::array<std::string_view, 8> known_parameters{
    "charset", "connect_timeout", "read_timeout", "sslca",
    "sslcert", "sslkey",          "unix_socket",  "write_timeout"};

[[noreturn]] void refuse(const std::string& why) { throw error{errc::misuse, why}; }

/// ` name='value'` in SOCI's form; nothing for an empty value.
std::string soci_parameter(std::string_view name, std::string_view value) {
  const std::string decoded = detail::percent_decoded(value);
  if (decoded.empty()) return {};
  std::string parameter = " ";
  parameter.append(name).append("='");
  for (const char c : decoded) {
    if (c == '\'' || c == '\\') parameter += '\\';
    parameter += c;
  }
  return parameter + '\'';
}

/// Removes and returns the text up to the separator, which is removed as well; all of it without
/// one.
std::string_view take_up_to(std::string_view& text, std::size_t separator) {
  const auto taken = text.substr(0, separator);
  text.remove_prefix(separator == std::string_view::npos ? text.size() : separator + 1);
  return taken;
}

/// The name of an unknown parameter, unless it may be a part of a password with a `?`: a name has
/// no `@` after it.
std::string shown_parameter(std::string_view name, std::string_view query) {
  const bool is_name =
      !name.empty() && name.size() <= 32 &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789-") == std::string_view::npos;
  const bool has_value = query.find(std::string{name} + '=') != std::string_view::npos;
  if (!is_name || !has_value || query.find('@') != std::string_view::npos) return "a parameter";
  return "the parameter " + std::string{name};
}

/// The text is `name=value&name=value`.
std::string soci_parameters(std::string_view query) {
  const auto all = query;
  std::string parameters;
  while (!query.empty()) {
    auto value = take_up_to(query, query.find('&'));
    const auto name = take_up_to(value, value.find('='));
    if (std::find(known_parameters.begin(), known_parameters.end(), name) ==
        known_parameters.end()) {
      std::string names;
      for (const auto known : known_parameters) names.append(names.empty() ? "" : ", ") += known;
      refuse("a MySQL URL has " + shown_parameter(name, all) + " beside " + names +
             ": write what else SOCI knows of as mysql://host=... user=...; in a name or password "
             "write %3F for ? and %23 for #");
    }
    parameters += soci_parameter(name, value);
  }
  return parameters;
}

/// Whether the text is `name=value`: SOCI's connection strings begin with a keyword.
bool is_of_soci(std::string_view after_scheme) {
  constexpr std::string_view blanks = " \t\n";
  const auto begin = after_scheme.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return true;
  auto end = after_scheme.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", begin);
  if (end == begin || end == std::string_view::npos) return false;
  end = after_scheme.find_first_not_of(blanks, end);
  return end != std::string_view::npos && after_scheme[end] == '=';
}

/// `user:password@host:port/database?parameters`, every part optional.
std::string soci_target_of(std::string_view after_scheme) {
  if (after_scheme.find('#') != std::string_view::npos) {
    refuse("a MySQL URL has no fragment: in a name or password write %23 for #");
  }
  auto query = after_scheme;
  auto database = take_up_to(query, query.find('?'));
  auto server = take_up_to(database, database.find('/'));
  std::string_view user;
  std::string_view password;
  if (const auto at = server.rfind('@'); at != std::string_view::npos) {
    password = take_up_to(server, at);
    user = take_up_to(password, password.find(':'));
  }
  std::string_view port;
  if (const auto colon = server.rfind(':');
      colon != std::string_view::npos && server.find(']', colon) == std::string_view::npos) {
    port = server.substr(colon + 1);
    server = server.substr(0, colon);
  }
  if (server.starts_with('[') && server.ends_with(']')) {
    server = server.substr(1, server.size() - 2);
  }
  if (port.find_first_not_of("0123456789") != std::string_view::npos || port.size() > 5) {
    refuse("the port in the URL is not a number; in a password write %40 for @ and %2F for /");
  }
  std::string target{scheme};
  target += soci_parameter("host", server) + soci_parameter("port", port) +
            soci_parameter("user", user) + soci_parameter("password", password) +
            soci_parameter("dbname", database) + soci_parameters(query);
  return target;
}

}  // namespace

std::string soci_connection_string(std::string_view text) {
  for (const auto each : {scheme, other_scheme}) {
    if (!text.starts_with(each)) continue;
    const auto rest = text.substr(each.size());
    return is_of_soci(rest) ? std::string{scheme}.append(rest) : soci_target_of(rest);
  }
  return std::string{text};
}

}  // namespace rowlock
