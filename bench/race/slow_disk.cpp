// Preloaded into a server: its disk becomes slow. (Not sync_file_range, which waits for nothing.)
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace {

long synced(long call, int file) {
  std::this_thread::sleep_for(std::chrono::milliseconds{3});
  return syscall(call, file);
}

}  // namespace

extern "C" {

int fsync(int file) { return static_cast<int>(synced(SYS_fsync, file)); }
int fdatasync(int file) { return static_cast<int>(synced(SYS_fdatasync, file)); }
}
