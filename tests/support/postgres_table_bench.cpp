// The lock table on the test server, whatever store uses it.
#include "support/postgres_table_bench.hpp"

#include <pqxx/pqxx>
#include <stdexcept>

#include "support/database_application.hpp"

namespace rowlock::tests {

namespace {

std::string row(const pqxx::work& work, const lock_key& key) {
  return " where lock_type = " + work.quote(key.type) +
         " and source_id = " + work.quote(key.source_id);
}

pqxx::result on_row(const lock_key& key, const std::string& sql) {
  pqxx::connection connection{postgres_url()};
  pqxx::work work{connection};
  auto done = work.exec(sql + row(work, key));
  if (done.affected_rows() != 1) throw std::logic_error{"there is no such row"};
  work.commit();
  return done;
}

// Rows of events come of the other deletions.
constexpr const char* empty_all = R"(
do $$
declare emptied regclass;
begin
  for emptied in
    select oid from pg_class
    where relnamespace = current_schema::regnamespace and relkind = 'r'
      and relname <> 'shared_lock_schema'
    order by relname = 'shared_lock_event'
  loop
    execute format('delete from %s', emptied);
  end loop;
end $$)";

// False if a test has dropped the lock table. A session of that test may be at its end still, and
// lock rows until then.
bool is_emptied(const postgres_schema& schema) {
  pqxx::connection connection{postgres_url()};
  pqxx::work work{connection};
  work.exec("set local search_path = " + schema.name());
  work.exec("set local lock_timeout = '60s'");
  work.exec(empty_all);
  const auto found = work.exec("select to_regclass('shared_lock') is not null");
  work.commit();
  return found[0][0].as<bool>();
}

}  // namespace

std::unique_ptr<postgres_schema> kept_postgres_tables::make() const {
  auto made = std::make_unique<postgres_schema>();
  migrate_(made->table());
  create_postgres_application(made->table().text());
  return made;
}

std::unique_ptr<postgres_schema> kept_postgres_tables::take() {
  while (!unused_.empty()) {
    auto taken = std::move(unused_.back());
    unused_.pop_back();
    if (is_emptied(*taken)) return taken;
  }
  return make();
}

void postgres_table_bench::run_out(const lock_key& key) {
  on_row(key, "update " + table() + " set expires_at = clock_timestamp() - interval '1 second'");
}

void postgres_table_bench::let_done_lapse(const lock_key& key) {
  on_row(key, "update " + table() + " set done_until = clock_timestamp()");
}

void postgres_table_bench::leave_behind_the_clock(const lock_key& key) {
  on_row(key, "update " + table() + " set version = 1");
}

void postgres_table_bench::put_ahead_of_the_clock(const lock_key& key) {
  on_row(key, "update " + table() + " set version = version + 3600000000");
}

bool postgres_table_bench::is_blank(const lock_key& key) {
  const auto found = on_row(key, "select owner is null and expires_at = 'epoch' from " + table());
  return found[0][0].as<bool>();
}

std::shared_ptr<void> postgres_table_bench::lock_as_a_stranger(const lock_key& key) {
  struct stranger {
    pqxx::connection connection{postgres_url()};
    pqxx::work work{connection};
  };
  auto locking = std::make_shared<stranger>();
  locking->work.exec("select 1 from " + table() + row(locking->work, key) + " for update");
  return locking;
}

}  // namespace rowlock::tests
