// A SQLite file. Nothing can happen to it but what happens to its users.
#include <filesystem>
#include <utility>

#include "faults/proving_ground.hpp"
#include "rowlock/sqlite_store.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

class sqlite_ground final : public proving_ground {
 public:
  sqlite_ground(std::string name, std::string scheme)
      : name_{std::move(name)}, scheme_{std::move(scheme)} {
    migrate_sqlite(path_);
  }

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string url() const override { return scheme_ + path_; }
  [[nodiscard]] std::string url_of(std::size_t /*slot*/) const override { return url(); }
  void add_faults(chaos& /*all*/, unsigned /*crashes*/) override {}
  [[nodiscard]] std::size_t connections() const override { return 0; }

 private:
  std::string name_;
  std::string scheme_;
  // Nothing here crashes the machine, so a disk would only make it slow.
  temp_folder folder_{std::filesystem::is_directory("/dev/shm")
                          ? "/dev/shm"
                          : std::filesystem::temp_directory_path()};
  std::string path_ = folder_.path() / "faults.db";
};

}  // namespace

std::unique_ptr<proving_ground> make_sqlite_ground() {
  return std::make_unique<sqlite_ground>("SQLite", "sqlite://");
}

std::unique_ptr<proving_ground> make_soci_sqlite_ground() {
  return std::make_unique<sqlite_ground>("SQLite through SOCI", "soci:sqlite3://");
}

}  // namespace rowlock::tests
