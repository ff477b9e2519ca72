// A PostgreSQL server that a test starts, crashes, copies and promotes.
#include "support/postgres_cluster.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace rowlock::tests {

namespace {

namespace files = std::filesystem;

/// The same as of the server that the tests use, if that was said; or else the newest of Debian's,
/// or else whatever is on the PATH.
std::string server_program(const std::string& name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets it
  if (const char* const folder = std::getenv("ROWLOCK_POSTGRES_BIN")) {
    return std::string{folder} + '/' + name;
  }
  int newest = 0;
  std::error_code nothing_there;
  for (const auto& each : files::directory_iterator{"/usr/lib/postgresql", nothing_there}) {
    if (!files::exists(each.path() / "bin" / name)) continue;
    newest = std::max(newest, std::stoi(each.path().filename()));
  }
  if (newest == 0) return name;
  return "/usr/lib/postgresql/" + std::to_string(newest) + "/bin/" + name;
}

}  // namespace

postgres_cluster::postgres_cluster() {
  run_to_the_end(
      folder_.in_it({server_program("initdb"), "--username=tester", "--auth=trust",
                     "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "--pgdata=" + data()}));
}

std::unique_ptr<postgres_cluster> postgres_cluster::standby_of(const postgres_cluster& primary) {
  std::unique_ptr<postgres_cluster> standby{new postgres_cluster{empty_folder{}}};
  run_to_the_end(standby->folder_.in_it(
      {server_program("pg_basebackup"), "--host=" + primary.host(), "--username=tester",
       "--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--pgdata=" + standby->data()}));
  return standby;
}

postgres_cluster::~postgres_cluster() {
  try {
    crash();
  } catch (const std::exception& thrown) {
    std::cerr << "a server did not end in time: " << thrown.what() << '\n';
  }
}

void postgres_cluster::start(const std::vector<std::string>& settings) {
  // authentication_timeout: how long a stopped client can hold up a crash.
  std::vector<std::string> command{server_program("postgres"), "-D", data(), "-k", host()};
  const std::vector<std::string> ours{"listen_addresses=", "fsync=off",
                                      "authentication_timeout=10s"};
  for (const auto& setting : ours) command.insert(command.end(), {"-c", setting});
  for (const auto& setting : settings) command.insert(command.end(), {"-c", setting});
  files::remove(files::path{data()} / "postmaster.pid");
  process_ = std::make_unique<child_process>(folder_.in_it(command));
  await_that([this] { return status() == "ready" || status() == "standby"; }, {},
             [this] { return "the server is ready: " + process_->errors(); });
}

void postgres_cluster::crash() {
  if (process_ == nullptr) return;
  process_->send_signal(SIGQUIT);
  process_->wait();
  process_.reset();
}

void postgres_cluster::kill() {
  std::ifstream children{"/proc/" + std::to_string(process_->pid()) + "/task/" +
                         std::to_string(process_->pid()) + "/children"};
  const std::vector<std::string> orphans{std::istream_iterator<std::string>{children}, {}};
  process_->send_signal(SIGKILL);
  process_->wait();
  process_.reset();
  // They notice by themselves, and until then they write to the folder.
  for (const auto& orphan : orphans) {
    await_that([&] { return !files::exists("/proc/" + orphan); });
  }
}

void postgres_cluster::begin_to_stop(int signal) const { process_->send_signal(signal); }

std::string postgres_cluster::url() const { return "postgresql://tester@/postgres?host=" + host(); }

std::string postgres_cluster::status() const {
  std::ifstream pid_file{files::path{data()} / "postmaster.pid"};
  std::string line;
  constexpr int status_line = 8;
  for (int i = 0; i < status_line; ++i) {
    if (!std::getline(pid_file, line)) return {};
  }
  return line.substr(0, line.find(' '));
}

}  // namespace rowlock::tests
