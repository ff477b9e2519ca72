// The lock table in a fresh schema of the test server.
#include <pqxx/pqxx>
#include <stdexcept>

#include "rowlock/postgres_migrate.hpp"
#include "rowlock/postgres_store.hpp"
#include "support/postgres_schema.hpp"
#include "support/store_bench.hpp"

namespace rowlock::tests {

namespace {

class postgres_bench final : public store_bench {
 public:
  postgres_bench() {
    migrate_postgres(url_, schema_.table());
    create_postgres_notes(table());
  }

  std::shared_ptr<store> open(std::chrono::milliseconds /*turn*/) override {
    return std::make_shared<postgres_store>(url_, postgres_options{.table = schema_.table()});
  }

  std::unique_ptr<app_connection> connect() override { return connect_to_postgres(url_, table()); }

  void run_out(const lock_key& key) override {
    on_row(key, "update " + table() + " set expires_at = clock_timestamp() - interval '1 second'");
  }
  void leave_behind_the_clock(const lock_key& key) override {
    on_row(key, "update " + table() + " set version = 1");
  }
  void put_ahead_of_the_clock(const lock_key& key) override {
    on_row(key, "update " + table() + " set version = version + 3600000000");
  }

  bool is_blank(const lock_key& key) override {
    const auto found = on_row(key,
                              "select owner is null and holder is null and acquired_at is null "
                              "and expires_at = 'epoch' from " +
                                  table());
    return found[0][0].as<bool>();
  }

  std::shared_ptr<void> lock_as_a_stranger(const lock_key& key) override {
    struct stranger {
      explicit stranger(const std::string& url) : connection{url} {}
      pqxx::connection connection;
      pqxx::work work{connection};
    };
    auto locking = std::make_shared<stranger>(url_);
    locking->work.exec("select 1 from " + table() + row(locking->work, key) + " for update");
    return locking;
  }

  [[nodiscard]] std::string url() const override { return url_; }
  [[nodiscard]] std::string table() const override { return schema_.table().text(); }

 private:
  pqxx::result on_row(const lock_key& key, const std::string& sql) {
    pqxx::connection connection{url_};
    pqxx::work work{connection};
    auto done = work.exec(sql + row(work, key));
    if (done.affected_rows() != 1) throw std::logic_error{"there is no such row"};
    work.commit();
    return done;
  }

  static std::string row(const pqxx::work& work, const lock_key& key) {
    return " where lock_type = " + work.quote(key.type) +
           " and source_id = " + work.quote(key.source_id);
  }

  std::string url_ = postgres_url();
  postgres_schema schema_;
};

}  // namespace

std::unique_ptr<store_bench> make_postgres_bench() { return std::make_unique<postgres_bench>(); }

}  // namespace rowlock::tests
