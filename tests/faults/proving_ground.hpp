// A database to make things go wrong in.
#ifndef ROWLOCK_TESTS_FAULTS_PROVING_GROUND_HPP
#define ROWLOCK_TESTS_FAULTS_PROVING_GROUND_HPP

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "faults/chaos.hpp"

namespace rowlock::tests {

/// A fresh lock table, and what can happen to its users beside being killed and stopped.
class proving_ground {
 public:
  proving_ground() = default;
  proving_ground(const proving_ground&) = delete;
  proving_ground& operator=(const proving_ground&) = delete;
  virtual ~proving_ground() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  /// A way to the database that is always good.
  [[nodiscard]] virtual std::string url() const = 0;
  /// The one that this worker takes.
  [[nodiscard]] virtual std::string url_of(std::size_t slot) const = 0;
  /// `crashes`: how often the database may be brought down, if it can be.
  virtual void add_faults(chaos& all, unsigned crashes) = 0;
  /// Every connection of any client that the database knows of.
  [[nodiscard]] virtual std::size_t connections() const = 0;
  /// What the database itself reports that must not have happened.
  [[nodiscard]] virtual std::vector<std::string> complaints() const { return {}; }
};

std::unique_ptr<proving_ground> make_sqlite_ground();
std::unique_ptr<proving_ground> make_postgres_ground();
std::unique_ptr<proving_ground> make_mariadb_ground();
// The same databases, to whose users SOCI is between.
std::unique_ptr<proving_ground> make_soci_sqlite_ground();
std::unique_ptr<proving_ground> make_soci_postgres_ground();

}  // namespace rowlock::tests

#endif
