// A way to lock a key: this library's, a peer's, or the bare statements.
#ifndef ROWLOCK_BENCH_RACE_PROTOCOL_HPP
#define ROWLOCK_BENCH_RACE_PROTOCOL_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "rowlock/lock_key.hpp"

namespace rowlock::race {

/// No lease runs out during a measurement.
inline constexpr std::chrono::seconds ttl{60};

/// The key that all threads want.
inline lock_key hot_key() { return {.type = "hot", .source_id = "key"}; }

/// That of one thread among all threads of all processes.
inline lock_key key_of(unsigned thread) {
  return {.type = "own", .source_id = std::to_string(thread)};
}

/// One of `place::rows`, counted from 1.
inline lock_key other_key(std::uint64_t number) {
  return {.type = "other", .source_id = std::to_string(number)};
}

/// For protocols whose keys are one text.
inline std::string name_of(const lock_key& key) { return key.type + ':' + key.source_id; }

/// What one thread does. Not for use by two threads at once.
class contender {
 public:
  contender() = default;
  contender(const contender&) = delete;
  contender& operator=(const contender&) = delete;
  virtual ~contender() = default;

  /// One try. `key` lives until after `give_back`.
  virtual bool take(const lock_key& key) = 0;
  /// Tries until it has the key or `stop` is requested, as the protocol's own code waits.
  virtual bool take_waiting(const lock_key& key, const std::stop_token& stop) = 0;
  /// What was taken last. Throws if the lock was lost meanwhile.
  virtual void give_back() = 0;
  /// What each of many leases takes in memory; 0: not measured.
  [[nodiscard]] virtual std::int64_t bytes_each() const { return 0; }
  /// CPU of a pair in this thread beyond that of a bare loop; null: not measured.
  [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> own_cpu_each() const {
    return std::nullopt;
  }
};

/// Waits by trying again and again.
class polling_contender : public contender {
 public:
  /// No pause: the protocol has no way to wait, and `take_waiting` throws.
  explicit polling_contender(std::chrono::milliseconds pause = {}) : pause_{pause} {}
  bool take_waiting(const lock_key& key, const std::stop_token& stop) final;

 private:
  std::chrono::milliseconds pause_;
};

/// Where tables are, for the length of one measurement.
struct place {
  std::string server;      ///< As its driver takes it.
  std::string schema;      ///< Of its own; on SQLite a folder.
  unsigned connections{};  ///< Of one process, at most.
  unsigned keys{};         ///< So many threads have a key of their own.
  unsigned batch{1};       ///< So many keys each, where a protocol takes many at once.
  std::uint64_t rows{};    ///< So many more keys, not contended, are in rowlock's own table.
};

/// Makes a contender for each thread of one process; owns their connections or their store.
using contender_factory = std::function<std::unique_ptr<contender>()>;

enum class engine { postgres, sqlite, mariadb, redis, memcached };

struct protocol {
  std::string name;
  engine runs_on = engine::postgres;
  /// Makes the tables.
  std::function<void(const place& where)> build;
  /// For one process.
  std::function<contender_factory(const place& where)> open;
};

/// For `protocol::open`: all contenders of a process refer to one `Shared{where}`.
template <class Contender, class Shared>
contender_factory contenders_sharing(const place& where) {
  return
      [shared = std::make_shared<Shared>(where)] { return std::make_unique<Contender>(*shared); };
}

/// All there are. Throws std::runtime_error if none has this name.
const protocol& protocol_named(const std::string& name);
const std::vector<protocol>& protocols();

// What each source adds to them.
std::vector<protocol> postgres_protocols();
std::vector<protocol> batch_protocols();
std::vector<protocol> transactions();
std::vector<protocol> java_peers();
std::vector<protocol> other_peers();
std::vector<protocol> advisory_locks();
std::vector<protocol> sqlite_protocols();
std::vector<protocol> file_locks();
std::vector<protocol> mariadb_protocols();
std::vector<protocol> mariadb_peers();
std::vector<protocol> cache_protocols();

}  // namespace rowlock::race

#endif
