// The backends that rowlock speaks with.
#include <soci/soci.h>

#include <array>
#include <string>

#include "rowlock/error.hpp"
#include "rowlock/soci_store.hpp"
#include "soci/backend.hpp"

namespace rowlock::through_soci {

namespace {

using get_dialect = const dialect& (*)();

constexpr std::array<get_dialect, 3> known_dialects{&mysql_dialect, &postgres_dialect,
                                                    &sqlite_dialect};

const dialect* dialect_called(std::string_view backend) {
  for (const auto get : known_dialects) {
    if (get().backend() == backend) return &get();
  }
  return nullptr;
}

std::string all_names() {
  std::string names;
  for (const auto get : known_dialects) {
    names += (names.empty() ? "" : ", ") + std::string{get().backend()};
  }
  return names;
}

/// A backend's name is a word: what else stands there may be a part of a password.
bool is_word(std::string_view name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

[[noreturn]] void refuse(const std::string& backend) {
  throw error{errc::rejected, "rowlock does not work through SOCI's backend " + backend +
                                  ": it does through " + all_names()};
}

}  // namespace

connection_target target_of(std::string_view as_given) {
  const auto connection_string = soci_connection_string(as_given);
  const auto end = connection_string.find("://");
  const auto backend = connection_string.substr(0, end);
  if (end == std::string::npos || !is_word(backend)) {
    throw error{errc::misuse,
                "a connection string of SOCI begins with its backend, as in mysql://db=shop "
                "user=app; the backends are " +
                    all_names()};
  }
  const auto* const spoken = dialect_called(backend);
  if (spoken == nullptr) refuse(backend);
  return {spoken, connection_string.substr(end + 3)};
}

const dialect& dialect_of(::soci::session& session) {
  if (session.get_backend() == nullptr) {
    throw error{errc::misuse, "the soci::session is not open: open it first"};
  }
  const auto backend = session.get_backend_name();
  const auto* const spoken = dialect_called(backend);
  if (spoken == nullptr) refuse(backend);
  return *spoken;
}

}  // namespace rowlock::through_soci
