// Runs pgbench.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <string>

#include "postgres/sql/leases.hpp"
#include "postgres/sql/spelling.hpp"
#include "race/connections.hpp"
#include "race/measurement.hpp"
#include "race/placeholders.hpp"
#include "race/postgres.hpp"
#include "race/scratch.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::race {

namespace {

/// Words are of pgbench's variables; null and false stand in the text, because no variable can be.
std::string script(const place& where) {
  const auto table = lock_table_in(where);
  const auto acquire = postgres::sql::rendered(table, postgres::sql::acquire_free);
  const auto release = postgres::sql::rendered(table, postgres::sql::release);
  return with(acquire, {":type", ":client_id", ":owner", ":holder", ":ttl", "NULL"}) + "\\gset\n" +
         with(release, {":type", ":client_id", ":owner", ":version", "false"}) + ";\n";
}

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error{"cannot start pgbench"};
  std::string output;
  std::array<char, 4096> piece{};
  while (const auto length = std::fread(piece.data(), 1, piece.size(), pipe)) {
    output.append(piece.data(), length);
  }
  if (pclose(pipe) != 0) throw std::runtime_error{"pgbench: " + output};
  return output;
}

double number_in(const std::string& output, const std::string& expression) {
  std::smatch found;
  if (!std::regex_search(output, found, std::regex{expression})) {
    throw std::runtime_error{"pgbench said: " + output};
  }
  return std::stod(found[1]);
}

}  // namespace

measured measure_with_pgbench(const plan& does) {
  const bool is_plain =
      does.keys == which_key::own && does.rate == 0 && !does.by_minute && !does.beside_a_snapshot;
  if (does.does != act::pairs || does.processes != 1 || !is_plain) {
    throw std::runtime_error{"pgbench does pairs in one process only, with nothing beside it"};
  }
  const scratch ours{engine::postgres, does};
  build_lock_table(ours.where());
  const auto file = std::filesystem::temp_directory_path() / (ours.where().schema + ".sql");
  std::ofstream{file} << script(ours.where());
  const auto* const bin = std::getenv("ROWLOCK_POSTGRES_BIN");
  const auto clients = std::to_string(does.threads);
  const auto run = [&](std::chrono::milliseconds length) {
    const auto seconds = std::max<std::int64_t>(1, length.count() / 1000);
    return output_of(
        (bin == nullptr ? "" : std::string{bin} + '/') + "pgbench -n -M prepared -c " + clients +
        " -j " + clients + " -T " + std::to_string(seconds) +
        " -D type=own -D holder=bench -D ttl=60000000 -D owner=" + make_owner_id().text + " -f '" +
        file.string() + "' '" + ours.where().server + "' 2>&1");
  };
  if (does.warm_up > std::chrono::milliseconds::zero()) run(does.warm_up);
  vacuum(ours.where());
  if (does.warm_up > std::chrono::milliseconds::zero()) run(does.warm_up);
  const auto output = run(does.length);
  std::filesystem::remove(file);

  measured result;
  result.counted.taken = static_cast<std::uint64_t>(
      number_in(output, "number of transactions actually processed: ([0-9]+)"));
  result.length = std::chrono::duration<double>{static_cast<double>(result.counted.taken) /
                                                number_in(output, "tps = ([0-9.]+)")};
  return result;
}

}  // namespace rowlock::race
