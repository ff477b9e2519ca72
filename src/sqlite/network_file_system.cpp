// File systems on which SQLite cannot keep its promises.
#include "sqlite/network_file_system.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "rowlock/error.hpp"

namespace rowlock::on_sqlite {

namespace {

struct file_system {
  std::uint32_t type;  // statfs(2); some are in no header
  const char* name;
};

constexpr std::array shared_by_machines{
    file_system{0x00006969, "NFS"},        file_system{0x0000517B, "SMB"},
    file_system{0xFE534D42, "SMB"},        file_system{0xFF534D42, "CIFS"},
    file_system{0x65735546, "FUSE"},       file_system{0x01021997, "9p"},
    file_system{0x5346414F, "AFS"},        file_system{0x6B414653, "AFS"},
    file_system{0x00C36400, "Ceph"},       file_system{0x73757245, "Coda"},
    file_system{0x0BD00BD0, "Lustre"},     file_system{0x47504653, "GPFS"},
    file_system{0x01161970, "GFS2"},       file_system{0x7461636F, "OCFS2"},
    file_system{0x786F4256, "VirtualBox"},
};

}  // namespace

void refuse_network_file_system(const std::string& file) {
  struct statfs found {};
  if (statfs(file.c_str(), &found) != 0) return;
  // Signed on some machines.
  const auto type = static_cast<std::uint32_t>(found.f_type);
  const auto* const known = std::ranges::find(shared_by_machines, type, &file_system::type);
  if (known == shared_by_machines.end()) return;
  throw error{errc::rejected,
              file + " is on a network file system (" + known->name +
                  "), where SQLite's locks cannot be relied on: move it to a local disk, or use "
                  "PostgreSQL; if only one machine uses it and its locks work, set "
                  "the option allow_network_file_system"};
}

}  // namespace rowlock::on_sqlite
