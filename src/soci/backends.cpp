// The list of SOCI backends.
#include <soci/soci.h>

#include <array>
#include <string>

#include "rowlock/error.hpp"
#include "rowlock/soci_store.hpp"
#include "soci/backend.hpp"

namespace rowlock::through_soci {

namespace {

using get_backend = const soci_backend& (*)();

constexpr std::array<get_backend, 3> known_backends{&mysql_backend, &postgres_backend,
                                                    &sqlite_backend};

const soci_backend* backend_called(std::string_view name) {
  for (const auto get : known_backends) {
    if (get().about.name == name) return &get();
  }
  return nullptr;
}

std::string all_names() {
  std::string names;
  for (const auto get : known_backends) {
    names += (names.empty() ? "" : ", ") + std::string{get().about.name};
  }
  return names;
}

/// Only text of this form is shown in messages: other text may be part of a password.
bool is_backend_name(std::string_view name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

[[noreturn]] void refuse(errc kind, const std::string& name) {
  throw error{kind, "rowlock does not work through SOCI's backend " + name + ": it does through " +
                        all_names()};
}

}  // namespace

connection_target target_of(std::string_view as_given) {
  const auto connection_string = soci_connection_string(as_given);
  const auto end = connection_string.find("://");
  const auto name = connection_string.substr(0, end);
  if (end == std::string::npos || !is_backend_name(name)) {
    throw error{errc::misuse,
                "a connection string of SOCI begins with its backend, as in mysql://db=shop "
                "user=app; the backends are " +
                    all_names()};
  }
  const auto* const backend = backend_called(name);
  if (backend == nullptr) refuse(errc::misuse, name);
  return {backend, connection_string.substr(end + 3)};
}

const soci_backend& backend_of(::soci::session& session) {
  if (session.get_backend() == nullptr) {
    throw error{errc::misuse, "the soci::session is not open: open it first"};
  }
  const auto name = session.get_backend_name();
  const auto* const backend = backend_called(name);
  if (backend == nullptr) refuse(errc::rejected, name);
  return *backend;
}

}  // namespace rowlock::through_soci
