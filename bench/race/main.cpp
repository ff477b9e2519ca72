// rowlock_race: many threads and processes against each other, by one protocol, for one
// measurement.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "race/measurement.hpp"
#include "race/pgbench.hpp"
#include "race/plan.hpp"
#include "race/protocol.hpp"
#include "race/told.hpp"

namespace rowlock::race {
namespace {

constexpr const char* pgbench = "pgbench";

int run(int argc, char** argv) {
  CLI::App app{
      "Measures one protocol once, and prints what came out as JSON.\n"
      "script/bench runs it many times."};
  plan does;
  int warm_up = static_cast<int>(does.warm_up.count());
  int length = static_cast<int>(does.length.count());
  std::int64_t hold = 0;
  bool list = false;
  const std::map<std::string, act> acts{{"pairs", act::pairs},
                                        {"turns", act::turns},
                                        {"refused", act::refused},
                                        {"queue", act::queue}};
  app.add_flag("--list", list, "name all protocols");
  app.add_option("--protocol", does.protocol);
  app.add_option("--act", does.does, "pairs, turns, refused or queue")
      ->transform(CLI::CheckedTransformer(acts));
  app.add_option("--processes", does.processes)->check(CLI::Range(1, 63));
  app.add_option("--threads", does.threads, "in each process")->check(CLI::Range(1, 1024));
  app.add_option("--connections", does.connections, "in each process; as many as threads");
  app.add_option("--warm-up-ms", warm_up);
  app.add_option("--length-ms", length);
  app.add_option("--hold-us", hold, "on average, of a hot key");
  app.add_option("--rows", does.rows, "more rows in the lock table of rowlock's protocols");
  app.add_option("--batch", does.batch, "keys of each thread, for protocols of many at once")
      ->check(CLI::Range(1, 100'000));
  app.add_flag("--snapshot", does.beside_a_snapshot, "beside an open transaction");
  CLI11_PARSE(app, argc, argv);
  does.warm_up = std::chrono::milliseconds{warm_up};
  does.length = std::chrono::milliseconds{length};
  does.hold = std::chrono::microseconds{hold};

  if (list) {
    for (const auto& each : protocols()) std::cout << each.name << '\n';
    std::cout << pgbench << '\n';
    return 0;
  }
  const auto result = does.protocol == pgbench ? measure_with_pgbench(does)
                                               : measure(does, protocol_named(does.protocol));
  std::cout << told(does, result) << '\n';
  return 0;
}

}  // namespace
}  // namespace rowlock::race

int main(int argc, char** argv) {
  try {
    return rowlock::race::run(argc, argv);
  } catch (const std::exception& thrown) {
    std::cerr << "rowlock_race: " << thrown.what() << '\n';
    return 1;
  }
}
