// A PostgreSQL server of its own, half of whose clients come over a network that fails.
#include <chrono>
#include <pqxx/pqxx>
#include <utility>

#include "faults/proving_ground.hpp"
#include "rowlock/postgres_migrate.hpp"
#include "support/own_postgres.hpp"
#include "support/postgres_schema.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {

namespace {

using std::chrono::milliseconds;

std::pair<std::string, std::string> host_and_port(const std::string& url) {
  pqxx::connection known{url};
  return {known.hostname(), known.port()};
}

class postgres_ground final : public proving_ground {
 public:
  postgres_ground() { migrate_postgres(server_.url()); }

  [[nodiscard]] std::string name() const override { return "PostgreSQL"; }
  [[nodiscard]] std::string url() const override { return server_.url(); }
  [[nodiscard]] std::string url_of(std::size_t slot) const override {
    return slot % 2 == 0 ? server_.url() : url_through(network_, server_.url());
  }

  void add_faults(chaos& all, unsigned crashes) override {
    all.add_paced("server crashes", crashes, [this] { server_.crash(); });
    all.add("backends terminated", [this] { terminate_a_backend(); });
    all.add("network resets", [this] { network_.reset(); });
    all.add("replies swallowed", [this] { network_.swallow_reply(); });
    all.add("commits swallowed", [this] { network_.swallow_reply("COMMIT"); });
    all.add("network delays", [this, &all] {
      network_.delay(milliseconds{1 + all.draw(50)});
      all.later(milliseconds{all.draw(500)}, [this] { network_.pass(); });
    });
    all.add("black holes", [this, &all] {
      network_.black_hole();
      all.later(milliseconds{all.draw(1000)}, [this] { network_.pass(); });
    });
  }

  [[nodiscard]] std::size_t connections() const override {
    pqxx::connection asking{server_.url()};
    pqxx::nontransaction work{asking};
    return work
        .exec(
            "select count(*) - 1 from pg_stat_activity"
            " where backend_type = 'client backend'")[0][0]
        .as<std::size_t>();
  }

 private:
  void terminate_a_backend() const {
    pqxx::connection asking{server_.url()};
    pqxx::nontransaction work{asking};
    work.exec(
        "select pg_terminate_backend(pid) from (select pid from pg_stat_activity"
        " where backend_type = 'client backend' and pid <> pg_backend_pid()"
        " order by random() limit 1) as victim");
  }

  own_postgres server_;
  std::pair<std::string, std::string> where_ = host_and_port(server_.url());
  tcp_proxy network_{where_.first, where_.second};
};

}  // namespace

std::unique_ptr<proving_ground> make_postgres_ground() {
  return std::make_unique<postgres_ground>();
}

}  // namespace rowlock::tests
