// The test server, as SOCI reads it.
#include "support/soci_postgres.hpp"

#include <libpq-fe.h>

#include <memory>

namespace rowlock::tests {

std::string soci_url(const std::string& url) {
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> parsed{
      PQconninfoParse(url.c_str(), nullptr), &PQconninfoFree};
  std::string text = "postgresql://";
  for (const auto* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) text += std::string{option->keyword} + "='" + option->val + "' ";
  }
  return text;
}

}  // namespace rowlock::tests
