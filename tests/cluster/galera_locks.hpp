// A fresh lock table and fresh books in the cluster, and a way to them through each node.
#ifndef ROWLOCK_TESTS_CLUSTER_GALERA_LOCKS_HPP
#define ROWLOCK_TESTS_CLUSTER_GALERA_LOCKS_HPP

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "cli/database_url.hpp"
#include "cluster/cluster_test.hpp"
#include "faults/books.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/soci_store.hpp"

namespace rowlock::tests {

class galera_locks : public cluster_test {
 protected:
  galera_locks() {
    cluster().empty_database();
    migrate(cluster().url(0));
    create_books(*books_at(0));
    for (std::size_t node = 0; node < galera_cluster::size; ++node) {
      cluster().catch_up(node);
      ways_.at(node) = std::make_unique<way>(node);
    }
  }

  static std::string target(std::size_t node) { return database_url{cluster().url(node)}.target(); }
  static std::unique_ptr<books> books_at(std::size_t node) {
    return open_books(cluster().url(node));
  }
  store& rows(std::size_t node) { return ways_.at(node)->rows; }
  lock_table& locks(std::size_t node) { return ways_.at(node)->locks; }

  /// By the clock of the database, and longer ago than clocks can differ. No other holder has
  /// taken the key over yet.
  static void let_run_out(std::size_t node, const lock_key& key) {
    cluster().connect(node).execute(
        "update shared_lock set expires_at = utc_timestamp(6) - interval 1 minute"
        " where lock_type = '" +
        key.type + "' and source_id = '" + key.source_id + "'");
  }

  /// Until a commit at the node stands behind the applier, which is held.
  static void await_a_commit_behind_the_applier(std::size_t node) {
    auto line = cluster().connect(node);
    await_that([&] {
      return line.number(
                 "select count(*) from information_schema.processlist"
                 " where state = 'Waiting for certification'") > 0;
    });
  }

 private:
  struct way {
    explicit way(std::size_t node) : rows{target(node)} {}
    soci_store rows;
    // Without renewal, so that nothing but the test changes the rows.
    lock_table locks{rows, {.ttl = std::chrono::hours{1}, .renew = false}};
  };

  std::array<std::unique_ptr<way>, galera_cluster::size> ways_;
};

}  // namespace rowlock::tests

#endif
