// A MariaDB server of its own, half of whose clients come over a network that fails.
#include <cstdint>

#include "cli/database_url.hpp"
#include "faults/network_faults.hpp"
#include "faults/proving_ground.hpp"
#include "support/mariadb_line.hpp"
#include "support/own_mariadb.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {

namespace {

class mariadb_ground final : public proving_ground {
 public:
  mariadb_ground() { migrate(server_.url()); }

  [[nodiscard]] std::string name() const override { return "MariaDB"; }
  [[nodiscard]] std::string url() const override { return server_.url(); }
  [[nodiscard]] std::string url_of(std::size_t slot) const override {
    return slot % 2 == 0 ? server_.url() : mariadb_url_through(network_.port(), server_.url());
  }

  void add_faults(chaos& all, unsigned crashes) override {
    all.add_paced("server crashes", crashes, [this] {
      deadlocks_ += deadlocks_since_start();  // the server forgets them
      server_.crash();
    });
    all.add("connections killed", [this] { kill_a_connection(); });
    add_network_faults(all, network_);
  }

  [[nodiscard]] std::size_t connections() const override {
    return static_cast<std::size_t>(
        mariadb_line{server_.url()}.number("select count(*)" + of_others()));
  }

  [[nodiscard]] std::vector<std::string> complaints() const override {
    const auto all = deadlocks_ + deadlocks_since_start();
    if (all == 0) return {};
    return {std::to_string(all) + " deadlocks"};
  }

 private:
  static std::string of_others() {
    return " from information_schema.processlist"
           " where user = 'root' and id <> connection_id()";
  }

  [[nodiscard]] std::int64_t deadlocks_since_start() const {
    return mariadb_line{server_.url()}.number(
        "select variable_value from information_schema.global_status"
        " where variable_name = 'innodb_deadlocks'");
  }

  void kill_a_connection() const {
    mariadb_line admin{server_.url()};
    const auto victim = admin.rows("select id" + of_others() + " order by rand() limit 1");
    if (victim.empty()) return;
    try {
      admin.execute("kill connection " + victim.front().front().value());
    } catch (const mariadb_error& thrown) {
      constexpr unsigned no_such_thread = 1094;  // it has just ended by itself
      if (thrown.number() != no_such_thread) throw;
    }
  }

  own_mariadb server_;
  mariadb_address where_ = mariadb_address_of(server_.url());
  tcp_proxy network_{where_.host, std::to_string(where_.port)};
  std::int64_t deadlocks_ = 0;
};

}  // namespace

std::unique_ptr<proving_ground> make_mariadb_ground() { return std::make_unique<mariadb_ground>(); }

}  // namespace rowlock::tests
