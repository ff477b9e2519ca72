// A way to keep others out of a key, to be measured: ours, a peer's, or the bare statements.
#ifndef ROWLOCK_BENCH_RACE_PROTOCOL_HPP
#define ROWLOCK_BENCH_RACE_PROTOCOL_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "rowlock/lock_key.hpp"

namespace rowlock::race {

/// No lease runs out during a measurement.
inline constexpr std::chrono::seconds ttl{60};

/// What one thread does. Not for use by two threads at once.
class contender {
 public:
  contender() = default;
  contender(const contender&) = delete;
  contender& operator=(const contender&) = delete;
  virtual ~contender() = default;

  /// One try.
  virtual bool take(const lock_key& key) = 0;
  /// Tries until it has the key or `stop` is requested, as the protocol's own code waits.
  virtual bool take_waiting(const lock_key& key, const std::stop_token& stop) = 0;
  /// What was taken last. Throws if it was not ours any more.
  virtual void give_back() = 0;
  /// What each of many leases takes in memory; 0: not measured.
  [[nodiscard]] virtual std::int64_t bytes_each() const { return 0; }
};

/// Waits by trying again and again.
class polling_contender : public contender {
 public:
  /// No pause: the protocol has no way to wait, and `take_waiting` throws.
  explicit polling_contender(std::chrono::milliseconds pause) : pause_{pause} {}
  bool take_waiting(const lock_key& key, const std::stop_token& stop) final;

 private:
  std::chrono::milliseconds pause_;
};

/// What the threads of one process share: connections, a store.
class entrance {
 public:
  entrance() = default;
  entrance(const entrance&) = delete;
  entrance& operator=(const entrance&) = delete;
  virtual ~entrance() = default;

  virtual std::unique_ptr<contender> enter() = 0;
};

/// Where tables are, for the length of one measurement.
struct place {
  std::string server;      ///< As its driver takes it.
  std::string schema;      ///< Of its own; on SQLite a folder.
  unsigned connections{};  ///< Of one process, at most.
  unsigned keys{};         ///< So many threads have a key of their own.
  unsigned batch{1};       ///< So many keys each, where a protocol takes many at once.
  std::uint64_t rows{};    ///< So many keys more are in our own lock table, which nobody wants.
};

enum class engine { postgres, sqlite, mariadb, redis, memcached };

struct protocol {
  std::string name;
  engine runs_on = engine::postgres;
  /// Makes the tables.
  std::function<void(const place& where)> build;
  /// For one process.
  std::function<std::unique_ptr<entrance>(const place& where)> open;
};

/// All there are. Throws std::runtime_error if none has this name.
const protocol& protocol_named(const std::string& name);
const std::vector<protocol>& protocols();

}  // namespace rowlock::race

#endif
