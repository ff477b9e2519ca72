// A file for each key: flock, and who has it, written to the disk. A crash of its holder releases
// it; there is no token, and no lease.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "race/protocol.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::race {

namespace {

class flock_contender final : public polling_contender {
 public:
  explicit flock_contender(const place& where) : folder_{where.schema} {}
  ~flock_contender() override { close_file(); }

  bool take(const lock_key& key) override {
    if (key.source_id != opened_) open_file(key);
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return false;
      fail("flock");
    }
    write_state(owner_);
    return true;
  }
  void give_back() override {
    write_state("free                            ");
    if (flock(file_, LOCK_UN) != 0) fail("flock");
  }

 private:
  [[noreturn]] static void fail(const char* call) {
    throw std::system_error{errno, std::generic_category(), call};
  }

  void open_file(const lock_key& key) {
    close_file();
    const auto path = folder_ + '/' + key.type + '-' + key.source_id;
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file_ < 0) fail("open");
    opened_ = key.source_id;
  }
  void close_file() {
    if (file_ >= 0) close(file_);
  }
  void write_state(std::string_view state) const {
    if (pwrite(file_, state.data(), state.size(), 0) != static_cast<ssize_t>(state.size())) {
      fail("pwrite");
    }
    if (fdatasync(file_) != 0) fail("fdatasync");
  }

  const std::string folder_;
  const std::string owner_ = make_owner_id().text;  // as long as the text of a free file
  std::string opened_;
  int file_ = -1;
};

}  // namespace

std::vector<protocol> file_locks() {
  return {{.name = "flock",
           .runs_on = engine::sqlite,
           .build = [](const place& /*where*/) {},
           .open = contenders_sharing<flock_contender, const place>}};
}

}  // namespace rowlock::race
