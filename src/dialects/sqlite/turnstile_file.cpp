// The file beside a database through which its writers form a queue.
#include "dialects/sqlite/turnstile_file.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <system_error>

#include "rowlock/error.hpp"

namespace rowlock::on_sqlite {

namespace {

constexpr off_t page_size = 4096;
constexpr int access_of_all = 0777;

[[noreturn]] void throw_unusable(const std::string& path) {
  throw error{errc::unavailable,
              "cannot use " + path + ", which puts the writers of the database in order (" +
                  std::generic_category().message(errno) +
                  "): give this user permission to read and write it and its folder"};
}

/// With the owner and the permissions of the database, as SQLite does it with the -wal file.
void make_like(int file, const struct stat& database) {
  // What is not allowed is not needed: then it is our own file.
  [[maybe_unused]] const int owned = fchown(file, database.st_uid, database.st_gid);
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

/// So that the whole page is on the disk: a write to memory could not say that the disk is full.
bool fill_page(int file) {
  struct stat found {};
  if (fstat(file, &found) != 0) return false;
  return found.st_size >= page_size || pwrite(file, "", 1, page_size - 1) == 1;
}

// One byte further, so that there is something before ticket 0.
struct flock exclusive_lock(off_t start, off_t length) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return lock;
}

off_t byte_of(turnstile_file::ticket ticket) { return static_cast<off_t>(ticket) + 1; }

}  // namespace

turnstile_file::turnstile_file(const std::string& database) {
  const std::string path = database + "-rowlock";
  file_ = open_or_create(path, database);
  if (file_ == -1) throw_unusable(path);
  void* mapped = MAP_FAILED;
  if (fill_page(file_)) {
    mapped = mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  }
  if (mapped == MAP_FAILED) {
    const int reason = errno;
    close(file_);
    errno = reason;
    throw_unusable(path);
  }
  page_ = static_cast<shared_page*>(mapped);
}

turnstile_file::~turnstile_file() {
  munmap(page_, page_size);
  close(file_);
}

turnstile_file::ticket turnstile_file::next() const noexcept { return page_->next; }

bool turnstile_file::count_up(ticket taken) noexcept {
  return page_->next.compare_exchange_strong(taken, taken + 1);
}

bool turnstile_file::try_lock(ticket wanted) const {
  auto lock = exclusive_lock(byte_of(wanted), 1);
  if (fcntl(file_, F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  throw error{errc::unavailable,
              "the file system gives no lock on the file that puts writers in order: " +
                  std::generic_category().message(errno)};
}

void turnstile_file::unlock(ticket locked) const noexcept {
  auto lock = exclusive_lock(byte_of(locked), 1);
  lock.l_type = F_UNLCK;
  fcntl(file_, F_OFD_SETLK, &lock);
}

bool turnstile_file::is_anybody_before(ticket mine) const {
  auto lock = exclusive_lock(0, byte_of(mine));
  return fcntl(file_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::optional<turnstile_file::ticket> turnstile_file::first_after(ticket mine) const noexcept {
  const off_t start = byte_of(mine) + 1;
  std::optional<ticket> first;
  // The kernel names any of them; before that one there may be more.
  for (off_t length = 0;;) {
    auto lock = exclusive_lock(start, length);
    if (fcntl(file_, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return first;
    if (lock.l_start < start) return first;
    first = static_cast<ticket>(lock.l_start) - 1;
    length = lock.l_start - start;
    if (length == 0) return first;
  }
}

std::atomic<std::uint32_t>& turnstile_file::bell_of(ticket who) const noexcept {
  return page_->calls[who % page_->calls.size()];
}

std::uint32_t turnstile_file::calls_of(ticket mine) const noexcept { return bell_of(mine); }

void turnstile_file::call(ticket who) noexcept {
  auto& bell = bell_of(who);
  ++bell;
  syscall(SYS_futex, &bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void turnstile_file::wait_for_call(ticket mine, std::uint32_t calls,
                                   std::chrono::nanoseconds longest) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (longest - seconds).count()};
  syscall(SYS_futex, &bell_of(mine), FUTEX_WAIT, calls, &timeout, nullptr, 0);
}

}  // namespace rowlock::on_sqlite
