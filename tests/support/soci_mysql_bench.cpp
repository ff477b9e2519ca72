// The lock table on the MariaDB server of the tests, through SOCI.
#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>

#include <stdexcept>

#include "rowlock/soci_store.hpp"
#include "support/benches.hpp"
#include "support/mysql_database.hpp"
#include "support/soci_application.hpp"

namespace rowlock::tests {

namespace {

class soci_mysql_bench final : public store_bench {
 public:
  explicit soci_mysql_bench(history_option history) {
    migrate_soci(target_, {}, history);
    ::soci::session session{target_};
    session << "create table " << table() << "_note (number bigint auto_increment primary key, "
            << "text varchar(1000) not null) engine = InnoDB";
    session << "create table " << table()
            << "_seat (id bigint primary key, code varchar(64) unique, "
            << "hall varchar(64), number bigint, version bigint default 1, "
            << "changed_at datetime(6) default current_timestamp(6), unique (hall, number)) "
            << "engine = InnoDB";
  }

  // One clock, even where the server is a node of a cluster.
  std::shared_ptr<store> open(std::chrono::milliseconds /*turn_timeout*/) override {
    return std::make_shared<soci_store>(
        target_, soci_options{.clock_skew = std::chrono::milliseconds::zero()});
  }

  std::unique_ptr<app_connection> connect() override {
    return connect_through_soci(target_, table());
  }

  void run_out(const lock_key& key) override {
    on_row(key, "expires_at = utc_timestamp(6) - interval 1 second");
  }
  void let_done_lapse(const lock_key& key) override {
    on_row(key, "done_until = utc_timestamp(6)");
  }
  void leave_behind_the_clock(const lock_key& key) override { on_row(key, "version = 1"); }
  void put_ahead_of_the_clock(const lock_key& key) override {
    on_row(key, "version = version + 3600000000");
  }

  bool is_blank(const lock_key& key) override {
    ::soci::session session{target_};
    int is_blank = 0;
    session << "select owner is null and expires_at = '1970-01-01' from " << table() << of_row,
        ::soci::into(is_blank), ::soci::use(key.type), ::soci::use(key.source_id);
    return is_blank == 1;
  }

  std::shared_ptr<void> lock_as_a_stranger(const lock_key& key) override {
    auto session = std::make_shared<::soci::session>(target_);
    // Closing the session would roll back too, but the server does not do that at once.
    auto stranger = std::make_shared<::soci::transaction>(*session);
    int one = 0;
    *session << "select 1 from " << table() << of_row << " for update", ::soci::into(one),
        ::soci::use(key.type), ::soci::use(key.source_id);
    return {stranger.get(), [session, stranger](void*) mutable { stranger.reset(); }};
  }

  [[nodiscard]] std::vector<std::string> contender() const override {
    return contender_on(database_.url(), table());
  }

 private:
  static std::string table() { return "shared_lock"; }
  static constexpr const char* of_row = " where lock_type = :type and source_id = binary :id";

  void on_row(const lock_key& key, const std::string& change) {
    ::soci::session session{target_};
    session << "set sql_safe_updates = 0";
    ::soci::statement update =
        (session.prepare << "update " << table() << " set " << change << of_row,
         ::soci::use(key.type), ::soci::use(key.source_id));
    update.execute(true);
    if (update.get_affected_rows() != 1) throw std::logic_error{"there is no such row"};
  }

  mysql_database database_;
  std::string target_ = database_.target();
};

}  // namespace

bench_kind soci_mysql_kind(history_option history) {
  return {.name = "soci_mysql",
          .make = [history] { return std::make_unique<soci_mysql_bench>(history); },
          .has_transactions = true,
          .keeps_callbacks_from_committing = true,
          .has_transactions_side_by_side = true,
          .has_entities = true,
          .has_foreign_transactions = true,
          .is_shared_between_processes = true,
          .is_shared_with_children = true};
}

}  // namespace rowlock::tests
