// Versions of databases on which the tests of rowlock ran.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "cli/checkup.hpp"

namespace rowlock::cli {

namespace {

/// From the pages of docs/databases. `first` and `last` are compared as far as they have numbers.
struct known_product {
  std::string_view name;
  version_numbers oldest;
  version_numbers first;
  version_numbers last;
};

// SQLite keeps its file format and its SQL: a newer one is no reason for a warning.
const std::array known_products{known_product{"PostgreSQL", {13}, {14}, {18}},
                                known_product{"MariaDB", {10, 6}, {10, 11}, {11, 8}},
                                known_product{"MySQL", {8, 0, 19}, {9, 7}, {9, 7}},
                                known_product{"SQLite", {3, 37}, {3, 37}, {3}}};

const known_product* find(std::string_view product) {
  const auto* const found = std::ranges::find(known_products, product, &known_product::name);
  return found == known_products.end() ? nullptr : found;
}

}  // namespace

version_support support_of(std::string_view product, const version_numbers& version) {
  const auto* const known = find(product);
  if (known == nullptr) return version_support::not_run;
  if (version < known->oldest) return version_support::too_old;
  auto compared = version;
  compared.resize(std::min(version.size(), known->last.size()));
  const bool is_known = version >= known->first && compared <= known->last;
  return is_known ? version_support::known : version_support::not_run;
}

std::string known_versions_of(std::string_view product) {
  const auto* const known = find(product);
  if (known == nullptr) return "the tests of rowlock did not run on it";
  if (known->name == "SQLite") return "rowlock needs " + to_text(known->oldest) + " or newer";
  return "the tests of rowlock ran on " + to_text(known->first) +
         (known->first == known->last ? "" : " to " + to_text(known->last));
}

std::string to_text(const version_numbers& version) {
  return fmt::format("{}", fmt::join(version, "."));
}

}  // namespace rowlock::cli
