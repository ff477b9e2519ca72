// A holder that takes a key in one of the three ways and keeps it until `end`.
#ifndef ROWLOCK_TESTS_SUPPORT_POSSESSION_HPP
#define ROWLOCK_TESTS_SUPPORT_POSSESSION_HPP

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rowlock/lock_table.hpp"
#include "support/application.hpp"

namespace rowlock::tests {

/// The three ways in which a key can be had.
enum class mode { lease, row_lock, optimistic_commit };

std::vector<mode> every_mode();
/// `lease`, `row_lock` or `optimistic_commit`.
std::string mode_name(mode named);
mode mode_named(const std::string& name);
std::ostream& operator<<(std::ostream& out, mode shown);

/// Thread-safety: one thread at a time.
class possession {
 public:
  possession(store& rows, std::unique_ptr<app_connection> connection);

  /// Tries once. What was acquired is kept: a lease is held, a transaction stays open, an
  /// optimistic commit has passed its compare-and-set and not yet committed.
  outcome<version> try_acquire(mode how, const lock_key& key);

  /// Releases, or commits. Throws when that fails.
  void end();

 private:
  outcome<version> try_in_transaction(mode how, const lock_key& key);

  lock_table locks_;
  std::optional<lease> lease_;
  std::unique_ptr<app_connection> connection_;
  std::unique_ptr<app_transaction> transaction_;
};

}  // namespace rowlock::tests

#endif
