// A Prometheus server of a test's own.
#include "prometheus/prometheus_server.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "prometheus/promtool.hpp"
#include "support/free_ports.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {

namespace {

promtool_result query_at(const std::string& url, const std::string& query) {
  return promtool({"query", "-o", "json", "instant", url, query});
}

/// Empty if the answer is not one series.
std::string only_value(const promtool_result& answer) {
  if (answer.code != 0) return {};
  const auto series = nlohmann::json::parse(answer.output);
  if (!series.is_array() || series.size() != 1) return {};
  return series[0]["value"][1].get<std::string>();
}

}  // namespace

prometheus_server::prometheus_server(int target_port) {
  configure(target_port);
  // Another process may take a port before the server does.
  for (const int port : free_ports(5)) {
    if (listens_on(port)) return;
  }
  throw std::runtime_error{"Prometheus does not start: " + process_->errors()};
}

void prometheus_server::configure(int target_port) const {
  std::ofstream{folder_.path() / "prometheus.yml"}
      << "global: {scrape_interval: 500ms, scrape_timeout: 500ms}\n"
      << "scrape_configs:\n"
      << "  - job_name: rowlock\n"
      << "    static_configs: [{targets: ['127.0.0.1:" << target_port << "']}]\n";
}

bool prometheus_server::listens_on(int port) {
  port_ = port;
  process_ = std::make_unique<child_process>(std::vector<std::string>{
      ROWLOCK_PROMETHEUS_SERVER, "--log.level=warn",
      "--config.file=" + (folder_.path() / "prometheus.yml").string(),
      "--storage.tsdb.path=" + (folder_.path() / std::to_string(port)).string(),
      "--web.listen-address=127.0.0.1:" + std::to_string(port)});
  bool is_ready = false;
  return comes([&] {
           is_ready = query_at(url(), "vector(1)").code == 0;
           return is_ready || process_->has_ended();
         }) &&
         is_ready;
}

void prometheus_server::await(const std::string& query, const std::string& value) {
  await_that([&] { return only_value(query_at(url(), query)) == value; }, {},
             [&] {
               const auto answer = query_at(url(), query);
               return query + " is not " + value + ": " + answer.output + answer.errors +
                      process_->errors();
             });
}

int prometheus_server::stop() {
  process_->send_signal(SIGTERM);
  return process_->wait();
}

}  // namespace rowlock::tests
