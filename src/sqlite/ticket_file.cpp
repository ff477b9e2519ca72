// The queue file beside a database, which puts its writers in order.
#include "sqlite/ticket_file.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <ctime>
#include <system_error>
#include <thread>

#include "rowlock/error.hpp"

namespace rowlock::sqlite {

namespace {

constexpr off_t page_size = 4096;
constexpr int access_of_all = 0777;

[[noreturn]] void throw_unusable(const std::string& path) {
  const bool is_full = errno == ENOSPC || errno == EDQUOT;
  throw error{errc::unavailable,
              "cannot use " + path + ", which puts the writers of the database in order (" +
                  std::generic_category().message(errno) + "): " +
                  (is_full ? "free some space"
                           : "give this user permission to read and write it and its folder")};
}

/// Gives the file the owner, the group and the permissions of the database.
void make_like(int file, const struct stat& database) {
  // Without the right to change the owner the file stays this user's own; its group can be any that
  // this user is in. Failures are ignored: the permissions may be enough without.
  if (fchown(file, database.st_uid, database.st_gid) != 0) {
    constexpr auto same_owner = static_cast<uid_t>(-1);
    [[maybe_unused]] const int grouped = fchown(file, same_owner, database.st_gid);
  }
  [[maybe_unused]] const int allowed = fchmod(file, database.st_mode & access_of_all);
}

int open_or_create(const std::string& path, const std::string& database) {
  for (;;) {
    const int existing = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (existing != -1 || errno != ENOENT) return existing;
    struct stat like {};
    if (stat(database.c_str(), &like) != 0) return -1;
    const int created =
        open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (created != -1) make_like(created, like);
    if (created != -1 || errno != EEXIST) return created;
  }
}

/// Extends the file to a page, so that the whole page can be mapped, and is on the disk.
bool fill_page(int file) {
  struct stat found {};
  if (fstat(file, &found) != 0) return false;
  return found.st_size >= page_size || pwrite(file, "", 1, page_size - 1) == 1;
}

struct flock exclusive_lock(off_t start, off_t length) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return lock;
}

/// Numbers from here on are garbage: no file is used so often, or becomes so long.
constexpr ticket_file::ticket tickets = ticket_file::ticket{1} << 62U;

/// The file begins with the last ticket. The wake counts follow, indexed by ticket modulo
/// `wake_words`.
constexpr off_t first_wake_word = sizeof(ticket_file::ticket);
constexpr ticket_file::ticket wake_words = 256;

off_t wake_word_of(ticket_file::ticket number) {
  return first_wake_word + static_cast<off_t>((number % wake_words) * sizeof(std::uint32_t));
}

[[noreturn]] void throw_unreadable() {
  throw error{errc::unavailable, "the file that puts writers in order cannot be read or written: " +
                                     std::generic_category().message(errno)};
}

// One byte further, so that the range before ticket 0 is not empty: length 0 means the whole file.
off_t byte_of(ticket_file::ticket ticket) { return static_cast<off_t>(ticket) + 1; }

}  // namespace

ticket_file::ticket_file(const std::string& database) {
  const std::string path = database + "-rowlock";
  file_ = open_or_create(path, database);
  if (file_ == -1 && errno != ENOENT) throw_unusable(path);
}

ticket_file::~ticket_file() {
  if (page_ != nullptr) munmap(page_, page_size);
  if (is_there()) close(file_);
}

ticket_file::ticket ticket_file::last() const {
  ticket found = 0;
  if (pread(file_, &found, sizeof found, 0) == -1) throw_unreadable();
  return found < tickets ? found : 0;
}

bool ticket_file::count_up(ticket before) const {
  if (last() != before) return false;
  const ticket counted = before + 1;
  if (pwrite(file_, &counted, sizeof counted, 0) != sizeof counted) throw_unreadable();
  return true;
}

bool ticket_file::try_lock(ticket wanted) const {
  auto lock = exclusive_lock(byte_of(wanted), 1);
  if (fcntl(file_, F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  throw error{errc::unavailable,
              "the file system gives no lock on the file that puts writers in order: " +
                  std::generic_category().message(errno)};
}

void ticket_file::unlock(ticket locked) const noexcept {
  auto lock = exclusive_lock(byte_of(locked), 1);
  lock.l_type = F_UNLCK;
  fcntl(file_, F_OFD_SETLK, &lock);
}

bool ticket_file::is_anybody_before(ticket mine) const {
  auto lock = exclusive_lock(0, byte_of(mine));
  return fcntl(file_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::optional<ticket_file::ticket> ticket_file::first_after(ticket mine) const noexcept {
  const off_t start = byte_of(mine) + 1;
  std::optional<ticket> first;
  // The kernel returns any of the locks; there may be more before it.
  for (off_t length = 0;;) {
    auto lock = exclusive_lock(start, length);
    if (fcntl(file_, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return first;
    if (lock.l_start < start) return first;
    first = static_cast<ticket>(lock.l_start) - 1;
    length = lock.l_start - start;
    if (length == 0) return first;
  }
}

std::uint32_t ticket_file::wakes_of(ticket mine) const noexcept {
  std::uint32_t wakes = 0;
  // A count that cannot be read is a wake-up that did not happen.
  [[maybe_unused]] const auto length = pread(file_, &wakes, sizeof wakes, wake_word_of(mine));
  return wakes;
}

void* ticket_file::address_of_wake_word(ticket number) noexcept {
  if (page_ == nullptr && fill_page(file_)) {
    void* const mapped = mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (mapped != MAP_FAILED) page_ = mapped;
  }
  return static_cast<std::byte*>(page_) + wake_word_of(number);
}

void ticket_file::wake(ticket number) noexcept {
  const std::uint32_t wakes = wakes_of(number) + 1;
  [[maybe_unused]] const auto length = pwrite(file_, &wakes, sizeof wakes, wake_word_of(number));
  syscall(SYS_futex, address_of_wake_word(number), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void ticket_file::wait_for_wake(ticket mine, std::uint32_t wakes,
                                std::chrono::nanoseconds longest) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (longest - seconds).count()};
  const auto answer =
      syscall(SYS_futex, address_of_wake_word(mine), FUTEX_WAIT, wakes, &timeout, nullptr, 0);
  // The file was truncated, or could not be mapped: no wake-up can arrive.
  if (answer == -1 && errno == EFAULT) std::this_thread::sleep_for(longest);
}

}  // namespace rowlock::sqlite
