// A connection to a MariaDB server through its C library.
#ifndef ROWLOCK_BENCH_RACE_MARIADB_CONNECTION_HPP
#define ROWLOCK_BENCH_RACE_MARIADB_CONNECTION_HPP

#include <cstdint>
#include <memory>
#include <string>

struct st_mysql;

namespace rowlock::race {

class mariadb_connection {
 public:
  /// `url` as script/support/throwaway-mariadb writes it.
  explicit mariadb_connection(const std::string& url);

  struct change {
    std::uint64_t affected;
    std::uint64_t insert_id;
  };
  /// A statement without rows. Throws std::runtime_error.
  change execute(const std::string& sql);

 private:
  std::unique_ptr<st_mysql, void (*)(st_mysql*)> connection_;
};

}  // namespace rowlock::race

#endif
