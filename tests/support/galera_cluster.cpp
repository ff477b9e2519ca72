// A MariaDB Galera cluster of three that a test starts, and whose nodes it kills and cuts off.
#include "support/galera_cluster.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <thread>

#include "support/free_ports.hpp"

namespace rowlock::tests {

namespace {

/// While this variable, which has no other use here, is 1 at a node, its applier does not get
/// past a row of the table.
constexpr std::array to_begin_with{
    "create database rowlock_test character set utf8mb4", "create database lag",
    "create table lag.met (n int primary key auto_increment)",
    "create trigger lag.held before insert on lag.met for each row"
    " while @@global.default_week_format = 1 do do sleep(0.01); end while"};

std::string local(int port) { return "127.0.0.1:" + std::to_string(port); }

void await(const std::string& what, const std::function<bool()>& has_come) {
  await_that(has_come, {}, [&] { return what; });
}

std::string status(mariadb_line& line, const std::string& name) {
  return line.rows("show global status like '" + name + "'").at(0).at(1).value();
}

/// 0 for -1, which a node shows for a number that it does not know.
std::uint64_t number_in(const std::string& text) {
  const std::uint64_t number = std::stoull(text);
  return number == std::numeric_limits<std::uint64_t>::max() ? 0 : number;
}

/// Of the last change of the members that the node knows of; 0 when it cannot be used.
std::uint64_t view_at(const std::string& url) {
  try {
    mariadb_line line{url};
    const bool serves = status(line, "wsrep_local_state_comment") == "Synced" &&
                        status(line, "wsrep_ready") == "ON" &&
                        status(line, "wsrep_cluster_status") == "Primary";
    if (!serves) return 0;
    return number_in(status(line, "wsrep_cluster_conf_id"));  // 0 if it has lost the others since
  } catch (const mariadb_error&) {
    return 0;
  }
}

}  // namespace

galera_cluster::galera_cluster() {
  const auto free = free_ports(size * 4);
  for (std::size_t node = 0; node < size; ++node) {
    const auto* const own = &free[node * 4];
    ports_.at(node) = {.sql = own[0], .group = own[1], .increments = own[2], .snapshot = own[3]};
  }
  make_data();
  boot();
  for (std::size_t node = 1; node < size; ++node) start(node);
}

// All begin with the same data, so that no node has to be sent any.
void galera_cluster::make_data() {
  // Servers that share a folder for temporary tables remove each other's when they start.
  for (std::size_t node = 0; node < size; ++node) {
    run_to_the_end(folder_.in_it({"mkdir", data(node) + ".tmp"}));
  }
  run_to_the_end(
      folder_.in_it({"env", "TMPDIR=" + data(0) + ".tmp", "mariadb-install-db", "--no-defaults",
                     "--datadir=" + data(0), "--skip-test-db", "--skip-name-resolve",
                     "--auth-root-authentication-method=normal"}));
  boot();
  mariadb_line line{bare_url(0)};
  for (const auto* statement : to_begin_with) line.execute(statement);
  end(0, SIGTERM);
  for (std::size_t node = 1; node < size; ++node) {
    run_to_the_end(folder_.in_it({"cp", "-r", data(0), data(node)}));
  }
}

void galera_cluster::boot() { start(0, {"--wsrep-new-cluster"}); }

void galera_cluster::start(std::size_t node, const std::vector<std::string>& further) {
  members_.at(node).process =
      std::make_unique<child_process>(folder_.in_it(command(node, further), "KILL"));
  await_in_step(node);
}

void galera_cluster::await_in_step(std::size_t node) const {
  const auto& process = *members_.at(node).process;
  await("the node to serve", [&] {
    if (process.has_ended()) throw std::runtime_error{"the node has ended: " + process.errors()};
    bootstrap_if_split();
    return is_in_step(node);
  });
}

// The times are those of a cluster on one machine: one that is silent for two seconds is suspected.
// No node is slowed down for one that lags: lag is what the tests are after.
std::vector<std::string> galera_cluster::command(std::size_t node,
                                                 const std::vector<std::string>& further) const {
  const auto& own = ports_.at(node);
  std::string members = "gcomm://";
  for (const auto& each : ports_) {
    if (&each != &ports_.front()) members += ",";
    members += local(each.group);
  }
  const auto name = "n" + std::to_string(node);
  std::string options = "base_port=" + std::to_string(own.group);
  options += ";gmcast.listen_addr=tcp://" + local(own.group);
  options += ";ist.recv_addr=" + local(own.increments);
  options += ";gcache.size=32M;gcs.fc_limit=100000;evs.suspect_timeout=PT2S";
  options +=
      ";evs.inactive_timeout=PT5S;evs.inactive_check_period=PT0.5S;evs.keepalive_period=PT0.5S";
  std::vector<std::string> whole{ROWLOCK_MARIADBD,
                                 "--no-defaults",
                                 "--datadir=" + data(node),
                                 "--tmpdir=" + data(node) + ".tmp",
                                 "--socket=" + data(node) + ".socket",
                                 "--pid-file=" + data(node) + ".pid",
                                 "--bind-address=127.0.0.1",
                                 "--port=" + std::to_string(own.sql),
                                 "--skip-name-resolve",
                                 "--max-connections=300",
                                 "--binlog-format=ROW",
                                 "--innodb-autoinc-lock-mode=2",
                                 "--innodb-flush-method=nosync",
                                 "--innodb-buffer-pool-size=64M",
                                 "--innodb-log-file-size=32M",
                                 "--slave-run-triggers-for-rbr=ENFORCE",
                                 "--wsrep-on=ON",
                                 std::string{"--wsrep-provider="} + ROWLOCK_GALERA,
                                 "--wsrep-cluster-name=rowlock",
                                 "--wsrep-node-name=" + name,
                                 "--wsrep-node-address=" + local(own.group),
                                 "--wsrep-sst-method=rsync",
                                 "--wsrep-sst-receive-address=" + local(own.snapshot),
                                 "--wsrep-cluster-address=" + members,
                                 "--wsrep-provider-options=" + options};
  whole.insert(whole.end(), further.begin(), further.end());
  return whole;
}

std::string galera_cluster::data(std::size_t node) const {
  return folder_.path() / ("n" + std::to_string(node));
}

std::string galera_cluster::url(std::size_t node) const {
  return "mysql://root@" + local(ports_.at(node).sql) + "/rowlock_test";
}

std::string galera_cluster::bare_url(std::size_t node) const {
  return "mysql://root@" + local(ports_.at(node).sql) + "/mysql";
}

void galera_cluster::end(std::size_t node, int signal) {
  members_.at(node).process->send_signal(signal);
  members_.at(node).process->wait();
  members_.at(node).process.reset();
}

void galera_cluster::kill(std::size_t node) { end(node, SIGKILL); }

void galera_cluster::restart(std::size_t node) {
  start(node, {"--wsrep-start-position=" + recovered_position(node)});
}

std::string galera_cluster::recovered_position(std::size_t node) const {
  const std::string caught = "Recovered position: ";
  child_process recovering{folder_.in_it(command(node, {"--wsrep-recover"}), "KILL")};
  recovering.wait();
  const auto said = recovering.errors();
  const auto begin = said.rfind(caught);
  if (begin == std::string::npos) throw std::runtime_error{"the node does not recover: " + said};
  const auto position = begin + caught.size();
  return said.substr(position, said.find('\n', position) - position);
}

void galera_cluster::freeze(std::size_t node) {
  const auto other = (node + 1) % size;
  const auto before = view_at(bare_url(other));
  pause(node);
  members_.at(node).is_frozen = true;
  await("the others to go on", [&] {
    bootstrap_if_split();
    return view_at(bare_url(other)) != before && is_in_step(other);
  });
}

void galera_cluster::bootstrap_if_split() const {
  std::size_t running = 0;
  std::uint64_t most_committed = 0;
  std::optional<std::size_t> latest;
  for (std::size_t node = 0; node < size; ++node) {
    if (members_.at(node).process == nullptr || members_.at(node).is_frozen) continue;
    ++running;
    try {
      mariadb_line line{bare_url(node)};
      if (status(line, "wsrep_cluster_status") == "Primary") return;
      const std::uint64_t committed = number_in(status(line, "wsrep_last_committed"));
      if (latest && committed <= most_committed) continue;
      latest = node;
      most_committed = committed;
    } catch (const mariadb_error&) {
      return;  // it is not there yet
    }
  }
  if (running < 2 || !latest) return;
  try {
    mariadb_line line{bare_url(*latest)};
    if (number_in(status(line, "wsrep_cluster_size")) != running) return;
    line.execute("set global wsrep_provider_options = 'pc.bootstrap=YES'");
  } catch (const mariadb_error&) {  // it has become primary, or lost the others again
  }
}

void galera_cluster::thaw(std::size_t node) {
  resume(node);
  members_.at(node).is_frozen = false;
  await_in_step(node);
}

void galera_cluster::empty_database() const {
  mariadb_line line{bare_url(0)};
  line.execute("create or replace database rowlock_test character set utf8mb4");
  for (std::size_t node = 0; node < size; ++node) catch_up(node);
}

void galera_cluster::catch_up(std::size_t node) const {
  mariadb_line line{bare_url(node)};
  line.execute("set session wsrep_sync_wait = 1");
  line.number("select 1");  // which waits: all sessions of this node see it from here on
}

void galera_cluster::set_provider_option(std::size_t node, const std::string& option) const {
  connect(node).execute("set global wsrep_provider_options = '" + option + "'");
}

void galera_cluster::isolate(std::size_t node) const {
  set_provider_option(node, "gmcast.isolate=1");
  await_refusal(node);
}

void galera_cluster::await_refusal(std::size_t node) const {
  await("the node to refuse", [&] {
    mariadb_line line{bare_url(node)};
    return status(line, "wsrep_ready") == "OFF";
  });
}

void galera_cluster::reconnect(std::size_t node) const {
  set_provider_option(node, "gmcast.isolate=0");
  await_in_step(node);
}

void galera_cluster::let_serve_alone(std::size_t node) const {
  set_provider_option(node, "pc.bootstrap=YES");
  await_in_step(node);
}

void galera_cluster::hold_appliers(std::size_t node) const {
  auto held = connect(node);
  held.execute("set global default_week_format = 1");
  connect((node + 1) % size).execute("insert into lag.met values ()");
  await("the applier to be held", [&] {
    return held.number(
               "select count(*) from information_schema.processlist"
               " where info = 'do sleep(0.01)'") == 1;
  });
}

void galera_cluster::release_appliers(std::size_t node) const {
  connect(node).execute("set global default_week_format = 0");
}

bool galera_cluster::is_in_step(std::size_t node) const {
  const auto view = view_at(bare_url(node));
  if (view == 0) return false;
  for (std::size_t each = 0; each < size; ++each) {
    if (members_.at(each).process == nullptr || members_.at(each).is_frozen) continue;
    if (view_at(bare_url(each)) != view) return false;
  }
  return true;
}

}  // namespace rowlock::tests
