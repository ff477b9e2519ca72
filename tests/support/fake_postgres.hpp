// A server that speaks PostgreSQL's protocol just long enough to refuse a connection.
#ifndef ROWLOCK_TESTS_SUPPORT_FAKE_POSTGRES_HPP
#define ROWLOCK_TESTS_SUPPORT_FAKE_POSTGRES_HPP

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace rowlock::tests {

/// What a client said: the options of its startup packet, and the password that it sent.
struct login {
  std::string options = {};
  std::string password = {};
};

/// Listens on a free port of 127.0.0.1. Requests every client's password, in clear text, and then
/// answers the error that `refusal` makes of it.
///
/// Thread-safety: all members may be called from any thread; `refusal` runs in a thread of its own.
class fake_postgres {
 public:
  struct reason {
    std::string sqlstate;
    std::string message;
  };

  explicit fake_postgres(std::function<reason(const login&)> refusal);
  fake_postgres(const fake_postgres&) = delete;
  fake_postgres& operator=(const fake_postgres&) = delete;
  ~fake_postgres();

  [[nodiscard]] int port() const noexcept { return port_; }
  /// In the order in which they came.
  [[nodiscard]] std::vector<login> logins();

 private:
  void serve();
  void refuse(int client);

  std::function<reason(const login&)> refusal_;
  int listening_ = -1;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<login> logins_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace rowlock::tests

#endif
