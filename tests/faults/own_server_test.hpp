// Tests that break servers, and so need servers of their own.
#ifndef ROWLOCK_TESTS_FAULTS_OWN_SERVER_TEST_HPP
#define ROWLOCK_TESTS_FAULTS_OWN_SERVER_TEST_HPP

#include <array>
#include <string>
#include <vector>

#include "faults/weakened_store.hpp"
#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"
#include "support/postgres_cluster.hpp"

namespace rowlock::tests {

/// One cluster for all of them; each starts it as it needs it, and it is stopped afterwards.
class own_server_test : public testing::Test {
 protected:
  ~own_server_test() override { server().crash(); }

  static postgres_cluster& server() {
    static postgres_cluster only;
    return only;
  }

  static void start_with_table(const std::vector<std::string>& settings = {}) {
    server().start(settings);
    migrate_postgres(server().url());
  }

  [[nodiscard]] acquire_request request(const lock_key& key) const {
    return {.key = key, .owner = mine_, .holder = "host:1", .ttl = 1h};
  }

  static lock_key key_of_its_own(const std::string& suffix = {}) {
    return {.type = "fault", .source_id = make_owner_id().text + suffix};
  }

  const owner_id mine_ = make_owner_id();
};

/// Of a grant that was acknowledged and then lost, and of the one after it.
struct lossy_grants {
  version lost;
  version next;
  /// The holder of the lost one could still commit with it, although another holds the key.
  bool lost_one_passes_the_fence;
};

/// A store whose versions count: without a clock, a lost one may come again.
inline weakened_store counting_versions(store& sound, const std::string& url) {
  return weakened_store{
      sound, {.acquire = [url](const acquire_request& request) {
        pqxx::connection connection{url};
        pqxx::nontransaction autocommit{connection};
        const auto granted = autocommit.exec(
            "update shared_lock set owner = " + autocommit.quote(request.owner.text) +
            ", version = version + 1, expires_at = clock_timestamp() + interval '1 hour'"
            " where expires_at <= clock_timestamp() and source_id = " +
            autocommit.quote(request.key.source_id) + " returning version");
        if (granted.empty()) return acquire_answer{};
        return acquire_answer{.status = acquire_status::granted,
                              .version = version{granted[0][0].as<std::int64_t>()}};
      }}};
}

inline bool passes_the_fence(const std::string& url, const lease& held) {
  pqxx::connection connection{url};
  pqxx::work work{connection};
  try {
    fence(work, held);
    work.commit();
    return true;
  } catch (const lease_lost&) {
    return false;
  }
}

}  // namespace rowlock::tests

#endif
