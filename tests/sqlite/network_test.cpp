// A file on a file system that other machines share.
#include <dlfcn.h>
#include <sys/vfs.h>

#include <atomic>
#include <initializer_list>
#include <string>

#include "rowlock/soci_store.hpp"
#include "sqlite/sqlite_files.hpp"

namespace {

/// What statfs() says of every file, instead of the truth; 0 is the truth.
std::atomic<unsigned>& pretended_type() {
  static std::atomic<unsigned> type{0};
  return type;
}

}  // namespace

// In place of the C library's, in this program: a network is not to be had in every test.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): its names are reserved ones
extern "C" int statfs(const char* path, struct statfs* found) noexcept {
  using function = int (*)(const char*, struct statfs*);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): dlsym has no other form
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "statfs"));
  const int result = real(path, found);
  if (pretended_type() != 0) found->f_type = pretended_type();
  return result;
}

namespace rowlock::tests {
namespace {

struct network {
  unsigned type;
  std::string name;
};

class SqliteOnNetwork : public migrated_sqlite_test, public testing::WithParamInterface<network> {
 protected:
  void SetUp() override { pretended_type() = GetParam().type; }
  void TearDown() override { pretended_type() = 0; }
};

TEST_P(SqliteOnNetwork, IsRejectedAndSaysWhatToDo) {
  sqlite_store by_path{path()};
  sqlite_store by_factory{[this] { return open(); }};
  soci_store by_soci{"sqlite3://" + path()};
  for (store* rows : std::initializer_list<store*>{&by_path, &by_factory, &by_soci}) {
    const auto thrown = error_of([&] { acquire(*rows); });
    EXPECT_EQ(thrown.kind(), errc::rejected);
    EXPECT_TRUE(says(thrown, path() + " is on a network file system (" + GetParam().name + ")"));
    EXPECT_TRUE(says(thrown, "move it to a local disk"));
    EXPECT_TRUE(says(thrown, "allow_network_file_system"));
  }
}

TEST_P(SqliteOnNetwork, IsUsedWhenTheOptionSaysSo) {
  sqlite_store rows{path(), {.allow_network_file_system = true}};
  EXPECT_EQ(acquire(rows).status, acquire_status::granted);
  soci_store by_soci{"sqlite3://" + path(), {.allow_network_file_system = true}};
  EXPECT_EQ(acquire(by_soci).status, acquire_status::granted);
}

INSTANTIATE_TEST_SUITE_P(Each, SqliteOnNetwork,
                         testing::Values(network{0x6969, "NFS"}, network{0x517B, "SMB"},
                                         network{0xFE534D42, "SMB"}, network{0xFF534D42, "CIFS"},
                                         network{0x65735546, "FUSE"}, network{0x01021997, "9p"},
                                         network{0x5346414F, "AFS"}, network{0x6B414653, "AFS"},
                                         network{0x00C36400, "Ceph"}),
                         [](const auto& shown) {
                           return shown.param.name + std::to_string(shown.index);
                         });

}  // namespace
}  // namespace rowlock::tests
