// The leader of a cluster under Patroni dies or is switched while all work with it, by way of an
// address that names both members, and nothing is lost.
#include <gtest/gtest.h>

#include <iostream>
#include <pqxx/pqxx>
#include <stdexcept>

#include "faults/faults_on.hpp"
#include "rowlock/postgres_store.hpp"
#include "support/child_process.hpp"
#include "support/postgres_schema.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

/// The cluster around us is that of `throwaway-patroni run`.
class patroni_ground final : public proving_ground {
 public:
  patroni_ground() {
    pqxx::connection cluster{postgres_url()};
    pqxx::nontransaction work{cluster};
    // A client that logs in may meet the standby first, and it must know the database.
    work.exec("set synchronous_commit = remote_apply");
    work.exec("drop database if exists rowlock_faults");
    work.exec("create database rowlock_faults");
    migrate_postgres(url());
  }

  [[nodiscard]] std::string name() const override { return "PostgreSQL under Patroni"; }
  [[nodiscard]] std::string url() const override {
    return postgres_url() + "&dbname=rowlock_faults";
  }
  [[nodiscard]] std::string url_of(std::size_t /*slot*/) const override { return url(); }

  void add_faults(chaos& all, unsigned crashes) override {
    all.add_paced("leaders killed", crashes, [] { change_leader("kill-leader"); });
    all.add_paced("leaders left without Patroni", crashes, [] { change_leader("kill-patroni"); });
    all.add_paced("switchovers", crashes, [] { change_leader("switch-over"); });
  }

  [[nodiscard]] std::size_t connections() const override {
    pqxx::connection admin{url()};
    pqxx::nontransaction work{admin};
    return work
        .exec(
            "select count(*) - 1 from pg_stat_activity"
            " where backend_type = 'client backend' and usename = current_user")[0][0]
        .as<std::size_t>();
  }

 private:
  static void change_leader(const std::string& how) {
    child_process change{{ROWLOCK_THROWAWAY_PATRONI, how}};
    const auto took = change.read_line(2min);
    if (change.wait(2min) != 0 || !took) throw std::runtime_error{how + ": " + change.errors()};
    std::cout << how << ": the other one could be written to after " << *took << " s" << std::endl;
  }
};

TEST(PatroniFaults, LoseNoUpdateAndLetNoFormerHolderCommit) {
  constexpr unsigned half = 2;  // each change of the leader takes its time
  faults_on trials{std::make_unique<patroni_ground>()};
  for (const auto& size : sizes_from_environment(half)) trials.expect_nothing_lost(size);
}

}  // namespace
}  // namespace rowlock::tests
