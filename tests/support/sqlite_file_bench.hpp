// The lock table in a fresh SQLite file, whatever driver reaches it.
#ifndef ROWLOCK_TESTS_SUPPORT_SQLITE_FILE_BENCH_HPP
#define ROWLOCK_TESTS_SUPPORT_SQLITE_FILE_BENCH_HPP

#include <memory>
#include <string>

#include "rowlock/table_name.hpp"
#include "support/store_bench.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

/// With the tables of rowlock and of the application.
class sqlite_file_bench : public store_bench {
 public:
  explicit sqlite_file_bench(history_option history = history_option::unchanged);

  void run_out(const lock_key& key) override;
  void let_done_lapse(const lock_key& key) override;
  void leave_behind_the_clock(const lock_key& key) override;
  void put_ahead_of_the_clock(const lock_key& key) override;
  bool is_blank(const lock_key& key) override;
  std::shared_ptr<void> lock_as_a_stranger(const lock_key& key) override;

 protected:
  [[nodiscard]] static std::string table() { return "shared_lock"; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  /// Runs `sql` for one row; what it selects, or how many rows it changed.
  int on_row(const lock_key& key, const std::string& sql);

  temp_folder folder_;
  std::string path_ = folder_.path() / "locks.db";
};

}  // namespace rowlock::tests

#endif
