// All that a library, its command and its observer say, to be searched for secrets.
#ifndef ROWLOCK_TESTS_SECRETS_SPOKEN_HPP
#define ROWLOCK_TESTS_SECRETS_SPOKEN_HPP

#include <functional>
#include <string>
#include <vector>

#include "rowlock/port/store.hpp"

namespace rowlock::tests {

/// The password that every connection string of these tests holds.
inline const std::string password = "sesame42";

class spoken {
 public:
  /// `innocent` is the name of a schema or a database, which looks like an owner's id.
  explicit spoken(std::string innocent = {}) : innocent_{std::move(innocent)} {}

  /// Makes every call of `rows`, through a `lock_table` with an observer as well. At least one call
  /// throws.
  void record(store& rows);
  /// `call` throws. What is nested in its exception counts too.
  void record_error_of(const std::function<void()>& call);
  void record(const std::string& text) { texts_.push_back(text); }

  /// That nothing said since the last call of this holds the password, any owner's id, or
  /// `connection_string`; and that something was said.
  void expect_no_secret(const std::string& connection_string);

 private:
  /// Whether it threw.
  bool record_thrown_by(const std::function<void()>& call);

  std::string innocent_;
  std::vector<std::string> texts_;
};

}  // namespace rowlock::tests

#endif
