// The protocols, by their names.
#include "race/protocol.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

namespace rowlock::race {

bool polling_contender::take_waiting(const lock_key& key, const std::stop_token& stop) {
  if (pause_ == std::chrono::milliseconds::zero()) {
    throw std::runtime_error{"this protocol does not wait"};
  }
  std::mutex mutex;
  std::condition_variable_any pause;
  std::unique_lock lock{mutex};
  while (!stop.stop_requested()) {
    if (take(key)) return true;
    pause.wait_for(lock, stop, pause_, [] { return false; });
  }
  return false;
}

const std::vector<protocol>& protocols() {
  static const std::vector<protocol> all = [] {
    std::vector<protocol> listed;
    for (auto* const list : {postgres_protocols, batch_protocols, transactions, java_peers,
                             other_peers, advisory_locks, sqlite_protocols, file_locks,
                             mariadb_protocols, mariadb_peers, cache_protocols}) {
      for (auto& each : list()) listed.push_back(std::move(each));
    }
    return listed;
  }();
  return all;
}

const protocol& protocol_named(const std::string& name) {
  const auto found = std::find_if(protocols().begin(), protocols().end(),
                                  [&](const protocol& each) { return each.name == name; });
  if (found == protocols().end()) {
    throw std::runtime_error{"no protocol is called " + name + "; --list names them all"};
  }
  return *found;
}

}  // namespace rowlock::race
