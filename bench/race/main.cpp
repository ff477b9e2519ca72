// rowlock_race: many threads and processes against each other, by one protocol, for one
// measurement.
#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "race/measurement.hpp"
#include "race/plan.hpp"
#include "race/protocol.hpp"

namespace rowlock::race {
namespace {

constexpr const char* pgbench = "pgbench";

double in_microseconds(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

void add_times(nlohmann::ordered_json& json, const latencies& each) {
  if (each.count() == 0) return;
  json["p50"] = in_microseconds(each.at(0.5));
  json["p99"] = in_microseconds(each.at(0.99));
  json["p999"] = in_microseconds(each.at(0.999));
}

void add_tables(nlohmann::ordered_json& json, const table_reading& tables) {
  json["dead_rows"] = tables.dead_rows;
  json["table_bytes"] = tables.bytes;
}

nlohmann::ordered_json as_json(const minute& one) {
  nlohmann::ordered_json json{{"per_second", static_cast<double>(one.each.count()) / 60}};
  add_times(json, one.each);
  add_tables(json, one.tables);
  json["vacuums"] = one.tables.vacuums;
  json["checkpoints"] = one.tables.checkpoints;
  return json;
}

/// One object, flat but for minutes; what was not measured is missing. Times in microseconds unless
/// the name says otherwise.
nlohmann::ordered_json as_json(const plan& does, const measured& result) {
  const auto& counted = result.counted;
  const auto done = counted.taken + counted.refused;  // pairs, or refused tries
  const auto of_each = [&](double all) { return all / static_cast<double>(done); };
  nlohmann::ordered_json json{{"protocol", does.protocol},
                              {"processes", does.processes},
                              {"threads", does.threads},
                              {"connections", does.connections},
                              {"seconds", result.length.count()},
                              {"taken", counted.taken},
                              {"refused", counted.refused},
                              {"violations", counted.violations},
                              {"per_second", static_cast<double>(done) / result.length.count()}};
  add_times(json, counted.each);
  if (counted.handover.count() > 0) {
    json["handovers"] = counted.handover.count();
    json["handover_p50"] = in_microseconds(counted.handover.at(0.5));
    json["handover_p99"] = in_microseconds(counted.handover.at(0.99));
  }
  const auto all_time = result.length * does.processes;
  json["client_percent"] = 100 * std::chrono::duration<double>{counted.process_cpu} / all_time;
  if (done > 0 && counted.process_cpu.count() > 0) {
    json["thread_cpu_each"] = of_each(in_microseconds(counted.thread_cpu));
    json["process_cpu_each"] = of_each(in_microseconds(counted.process_cpu));
    json["allocations_each"] = of_each(static_cast<double>(counted.allocations));
  }
  if (counted.bytes_each > 0) json["bytes_each"] = counted.bytes_each;
  if (counted.own_cpu_each) json["own_cpu_each"] = in_microseconds(*counted.own_cpu_each);
  if (result.server) {
    const auto& [during, tables] = *result.server;
    json["statements_per_second"] = static_cast<double>(during.statements) / result.length.count();
    json["wal_bytes"] = during.wal_bytes;
    json["transactions"] = during.transactions;
    json["server_cpu_seconds"] = during.cpu_seconds;
    add_tables(json, tables);
    if (done > 0) {
      json["statements_each"] = of_each(static_cast<double>(during.statements));
      json["wal_bytes_each"] = of_each(static_cast<double>(during.wal_bytes));
      json["server_cpu_each"] = of_each(during.cpu_seconds * 1e6);
    }
  }
  for (const auto& each : result.minutes) json["minutes"].push_back(as_json(each));
  return json;
}

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
  const std::map<std::string, which_key> keys{
      {"own", which_key::own}, {"random", which_key::random}, {"fresh", which_key::fresh}};
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
  app.add_flag("--come-back-at-random", does.comes_back_at_random,
               "turns: at a random moment of another one's hold; all holds are equally long");
  app.add_option("--rows", does.rows, "more rows in the lock table of rowlock's protocols");
  app.add_option("--keys", does.keys, "of each pair: own, random (of --rows) or fresh")
      ->transform(CLI::CheckedTransformer(keys));
  app.add_option("--rate", does.rate, "pairs a second of all threads; as many as they can");
  app.add_option("--batch", does.batch, "keys of each thread, for protocols of many at once")
      ->check(CLI::Range(1, 100'000));
  app.add_option("--seed", does.seed, "of random moments, holds and keys");
  app.add_flag("--snapshot", does.beside_a_snapshot, "beside an open transaction");
  app.add_flag("--by-minute", does.by_minute, "times and sizes of tables of each minute, too");
  CLI11_PARSE(app, argc, argv);
  if (does.keys == which_key::random && does.rows == 0) {
    throw std::runtime_error{"random keys are of --rows: give a number of rows"};
  }
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
  std::cout << as_json(does, result) << '\n';
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
