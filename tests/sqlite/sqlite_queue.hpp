// The queue of the writers of a SQLite file, as other processes see it.
#ifndef ROWLOCK_TESTS_SQLITE_SQLITE_QUEUE_HPP
#define ROWLOCK_TESTS_SQLITE_SQLITE_QUEUE_HPP

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace rowlock::tests {

class sqlite_queue {
 public:
  explicit sqlite_queue(const std::string& database) : path_{database + "-rowlock"} {}

  /// A writer that keeps the first places for ever; zero: all of them.
  class stranger {
   public:
    stranger(const std::string& path, off_t places)
        : file_{::open(path.c_str(), O_RDWR | O_CLOEXEC)} {
      struct flock kept {};
      kept.l_type = F_WRLCK;
      kept.l_len = places;
      EXPECT_EQ(fcntl(file_, F_OFD_SETLK, &kept), 0);
    }
    stranger(const stranger&) = delete;
    stranger& operator=(const stranger&) = delete;
    ~stranger() { close(file_); }

   private:
    int file_;
  };
  [[nodiscard]] stranger in_front() const {
    return stranger{path_, static_cast<off_t>(arrivals()) + 2};
  }
  [[nodiscard]] stranger everywhere() const { return stranger{path_, 0}; }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// The file begins with a number that rises with each writer that comes and finds another there.
  [[nodiscard]] std::uint64_t arrivals() const {
    std::uint64_t count = 0;
    std::ifstream{path_, std::ios::binary}.read(static_cast<char*>(static_cast<void*>(&count)),
                                                sizeof count);
    return count;
  }

  /// Whether `work` came to it once.
  bool is_joined_by(const auto& work) const {
    const auto blocker = in_front();
    const auto before = arrivals();
    work();
    return arrivals() == before + 1;
  }

 private:
  std::string path_;
};

}  // namespace rowlock::tests

#endif
