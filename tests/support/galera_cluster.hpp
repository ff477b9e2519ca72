// A MariaDB Galera cluster of three that a test starts, and whose nodes it kills and cuts off.
#ifndef ROWLOCK_TESTS_SUPPORT_GALERA_CLUSTER_HPP
#define ROWLOCK_TESTS_SUPPORT_GALERA_CLUSTER_HPP

#include <array>
#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/mariadb_line.hpp"
#include "support/server_user.hpp"

namespace rowlock::tests {

/// With the database rowlock_test, whose root needs no password. Data is in a temporary folder, the
/// nodes listen on 127.0.0.1, and all is gone with this object, or when the test is killed (then
/// but for the folder).
///
/// Every call returns when what it does can be seen at the nodes, and throws when that does not
/// come about. Nodes are counted from 0.
///
/// Thread-safety: one thread at a time, the one that lives longest. While it is in `freeze`,
/// another one may call `pause`, `resume` and `await_refusal` for another node.
class galera_cluster {
 public:
  static constexpr std::size_t size = 3;

  /// All three serve. Takes about ten seconds.
  galera_cluster();
  galera_cluster(const galera_cluster&) = delete;
  galera_cluster& operator=(const galera_cluster&) = delete;
  ~galera_cluster() = default;

  [[nodiscard]] std::string url(std::size_t node) const;
  [[nodiscard]] mariadb_line connect(std::size_t node) const { return mariadb_line{url(node)}; }

  /// Makes the database rowlock_test anew, without tables, at all nodes, which must serve.
  void empty_database() const;
  /// Waits until the node shows what was committed at others before.
  void catch_up(std::size_t node) const;

  /// At once, as by a power failure. The others stand still for about two seconds, and go on if
  /// they are the greater part of those that were there.
  void kill(std::size_t node);
  /// Brings one that was killed back: it gets what it has missed, in about five seconds.
  void restart(std::size_t node);

  /// Its process stands still, without notice. Waits until the others, which must be there, go on
  /// without it, after about two seconds. If these lose each other meanwhile, because a busy
  /// machine does not run one of them for that long, one is bootstrapped: they do not recover by
  /// themselves.
  void freeze(std::size_t node);
  /// Ends that, and waits until it is in step again.
  void thaw(std::size_t node);
  /// Its process stands still until `resume`, as on a busy machine. Waits for nothing.
  void pause(std::size_t node) const { members_.at(node).process->send_signal(SIGSTOP); }
  void resume(std::size_t node) const { members_.at(node).process->send_signal(SIGCONT); }

  /// It is cut off from the others, and they from it: on its own it refuses nearly everything.
  void isolate(std::size_t node) const;
  /// Waits until one that has lost the others does. Until then a statement may get as far as its
  /// commit, which is then in doubt.
  void await_refusal(std::size_t node) const;
  /// Ends that, and waits until it is in step again.
  void reconnect(std::size_t node) const;
  /// One that has lost the others for good serves alone from now on.
  void let_serve_alone(std::size_t node) const;

  /// What is committed elsewhere reaches the node, is in order, and is not applied, as on a node
  /// that lags. Other nodes must be there.
  void hold_appliers(std::size_t node) const;
  void release_appliers(std::size_t node) const;

  /// Whether it can be used, and knows of the same nodes as all others that run.
  [[nodiscard]] bool is_in_step(std::size_t node) const;

 private:
  struct ports {
    int sql;
    int group;
    int increments;
    int snapshot;
  };
  struct member {
    std::unique_ptr<child_process> process;  // null while it does not run
    bool is_frozen = false;
  };

  void make_data();
  void boot();
  void start(std::size_t node, const std::vector<std::string>& further = {});
  void await_in_step(std::size_t node) const;
  /// Of nodes that are connected and all not primary, makes the one that has committed most the
  /// primary component.
  void bootstrap_if_split() const;
  [[nodiscard]] std::vector<std::string> command(std::size_t node,
                                                 const std::vector<std::string>& further) const;
  [[nodiscard]] std::string data(std::size_t node) const;
  void end(std::size_t node, int signal);
  /// Where a crashed node has got to, which it needs to know to be brought up to date.
  [[nodiscard]] std::string recovered_position(std::size_t node) const;
  /// A way in that needs no rowlock_test.
  [[nodiscard]] std::string bare_url(std::size_t node) const;
  void set_provider_option(std::size_t node, const std::string& option) const;

  server_folder folder_;
  std::array<ports, size> ports_{};
  std::array<member, size> members_;
};

}  // namespace rowlock::tests

#endif
