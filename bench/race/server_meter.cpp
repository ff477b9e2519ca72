// Counters of a PostgreSQL server: statements, log bytes, CPU.
#include "race/server_meter.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "race/connections.hpp"

namespace rowlock::race {

namespace {

struct process_times {
  int parent = 0;
  long own = 0;       // in clock ticks
  long children = 0;  // those that have ended
};

/// The fields of proc(5) behind the name, which may contain anything.
std::optional<process_times> times_of(const std::filesystem::path& process) {
  std::ifstream file{process / "stat"};
  std::string line;
  if (!std::getline(file, line)) return {};
  std::istringstream rest{line.substr(line.rfind(')') + 1)};
  const std::vector<std::string> fields{std::istream_iterator<std::string>{rest}, {}};
  const auto number = [&](std::size_t field) { return std::stol(fields.at(field - 3)); };
  return process_times{.parent = static_cast<int>(number(4)),
                       .own = number(14) + number(15),
                       .children = number(16) + number(17)};
}

bool is_number(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

server_meter::server_meter(const place& where)
    : connection_{connect(where)}, schema_{where.schema} {
  pqxx::nontransaction autocommit{*connection_};
  autocommit.exec("CREATE EXTENSION IF NOT EXISTS pg_stat_statements SCHEMA public");
  autocommit.exec("SELECT public.pg_stat_statements_reset()");
  const auto backend = autocommit.exec("SELECT pg_backend_pid()")[0][0].as<int>();
  if (const auto times = times_of("/proc/" + std::to_string(backend))) postmaster_ = times->parent;
  queries_ = 1;
}

server_reading server_meter::read() {
  pqxx::nontransaction autocommit{*connection_};
  const auto row = autocommit.exec(
      "SELECT coalesce(sum(calls), 0)::bigint, pg_current_wal_insert_lsn() - '0/0'::pg_lsn, "
      "       (pg_snapshot_xmax(pg_current_snapshot())::text)::bigint "
      "  FROM public.pg_stat_statements "
      " WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())")[0];
  return {.statements = row[0].as<std::int64_t>() - queries_++,
          .wal_bytes = row[1].as<std::int64_t>(),
          .transactions = row[2].as<std::int64_t>(),
          .cpu_seconds = cpu_seconds()};
}

table_reading server_meter::tables() {
  ++queries_;
  pqxx::nontransaction autocommit{*connection_};
  const std::string checkpoints =
      connection_->server_version() < 170000
          ? "(SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter)"
          : "(SELECT num_timed + num_requested FROM pg_stat_checkpointer)";
  const auto row = autocommit.exec(
      "SELECT coalesce(sum(n_dead_tup), 0)::bigint, "
      "       coalesce(sum(pg_total_relation_size(relid)), 0)::bigint, "
      "       coalesce(sum(autovacuum_count), 0)::bigint, " +
      checkpoints + " FROM pg_stat_user_tables WHERE schemaname = " + autocommit.quote(schema_))[0];
  return {.dead_rows = row[0].as<std::int64_t>(),
          .bytes = row[1].as<std::int64_t>(),
          .vacuums = row[2].as<std::int64_t>(),
          .checkpoints = row[3].as<std::int64_t>()};
}

double server_meter::cpu_seconds() const {
  if (postmaster_ == 0) return 0;
  long ticks = 0;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    if (!is_number(entry.path().filename().string())) continue;
    const auto times = times_of(entry.path());
    if (!times) continue;
    if (times->parent == postmaster_) ticks += times->own;
    if (entry.path().filename() == std::to_string(postmaster_))
      ticks += times->own + times->children;
  }
  return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace rowlock::race
