// A PostgreSQL server of its own, half of whose clients come over a network that fails.
#include <pqxx/pqxx>

#include "faults/network_faults.hpp"
#include "faults/proving_ground.hpp"
#include "rowlock/postgres_store.hpp"
#include "support/own_postgres.hpp"
#include "support/postgres_schema.hpp"
#include "support/soci_postgres.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {

namespace {

class postgres_ground final : public proving_ground {
 public:
  using spelling = std::string (*)(const std::string& url);

  postgres_ground(std::string name, spelling as) : name_{std::move(name)}, as_{as} {
    migrate_postgres(server_.url());
  }

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string url() const override { return as_(server_.url()); }
  [[nodiscard]] std::string url_of(std::size_t slot) const override {
    return slot % 2 == 0 ? url() : as_(url_through(network_, server_.url()));
  }

  void add_faults(chaos& all, unsigned crashes) override {
    all.add_paced("server crashes", crashes, [this] { server_.crash(); });
    all.add("backends terminated", [this] { terminate_a_backend(); });
    add_network_faults(all, network_);
  }

  [[nodiscard]] std::size_t connections() const override {
    pqxx::connection admin{server_.url()};
    pqxx::nontransaction work{admin};
    return work
        .exec(
            "select count(*) - 1 from pg_stat_activity"
            " where backend_type = 'client backend'")[0][0]
        .as<std::size_t>();
  }

 private:
  void terminate_a_backend() const {
    pqxx::connection admin{server_.url()};
    pqxx::nontransaction work{admin};
    work.exec(
        "select pg_terminate_backend(pid) from (select pid from pg_stat_activity"
        " where backend_type = 'client backend' and pid <> pg_backend_pid()"
        " order by random() limit 1) as victim");
  }

  std::string name_;
  spelling as_;
  own_postgres server_;
  server_address where_ = address_of(server_.url());
  tcp_proxy network_{where_.host, where_.port};
};

}  // namespace

std::unique_ptr<proving_ground> make_postgres_ground() {
  return std::make_unique<postgres_ground>("PostgreSQL",
                                           [](const std::string& url) { return url; });
}

std::unique_ptr<proving_ground> make_soci_postgres_ground() {
  return std::make_unique<postgres_ground>(
      "PostgreSQL through SOCI", [](const std::string& url) { return "soci:" + soci_url(url); });
}

}  // namespace rowlock::tests
