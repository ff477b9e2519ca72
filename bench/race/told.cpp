// A measurement as JSON.
#include "race/told.hpp"

#include <nlohmann/json.hpp>

namespace rowlock::race {

namespace {

double in_microseconds(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

}  // namespace

nlohmann::ordered_json told(const plan& does, const measured& result) {
  const auto& counted = result.counted;
  const auto done = counted.taken + counted.refused;
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
  if (counted.each.count() > 0) {
    json["p50"] = in_microseconds(counted.each.at(0.5));
    json["p99"] = in_microseconds(counted.each.at(0.99));
  }
  if (counted.handover.count() > 0) {
    json["handovers"] = counted.handover.count();
    json["handover_p50"] = in_microseconds(counted.handover.at(0.5));
    json["handover_p99"] = in_microseconds(counted.handover.at(0.99));
  }
  if (done > 0 && counted.process_cpu.count() > 0) {
    json["thread_cpu_each"] = of_each(in_microseconds(counted.thread_cpu));
    json["process_cpu_each"] = of_each(in_microseconds(counted.process_cpu));
    json["allocations_each"] = of_each(static_cast<double>(counted.allocations));
  }
  if (counted.bytes_each > 0) json["bytes_each"] = counted.bytes_each;
  if (result.server) {
    const auto& [during, tables] = *result.server;
    json["statements_per_second"] = static_cast<double>(during.statements) / result.length.count();
    json["wal_bytes"] = during.wal_bytes;
    json["transactions"] = during.transactions;
    json["server_cpu_seconds"] = during.cpu_seconds;
    json["dead_rows"] = tables.dead_rows;
    json["table_bytes"] = tables.bytes;
    if (done > 0) {
      json["statements_each"] = of_each(static_cast<double>(during.statements));
      json["wal_bytes_each"] = of_each(static_cast<double>(during.wal_bytes));
      json["server_cpu_each"] = of_each(during.cpu_seconds * 1e6);
    }
  }
  return json;
}

}  // namespace rowlock::race
