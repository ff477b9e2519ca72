// rowlock_commanded_holder: acquires a lease, and then executes the commands that it reads, a line
// each, answering each with one line. Tests pause it, kill it, and turn its clock.
//
//   fence <ms>  begins a transaction, writes its token to the journal, and fences it with that
//               limit on idle time
//   commit      commits that transaction
//   lease       says whether the lease is valid, and the milliseconds that remain
//   clock       says the wall clock in seconds since 1970
//   wait <ms>   tries for so long to acquire the key that another one holds
#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <pqxx/pqxx>
#include <sstream>
#include <string>
#include <vector>

#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"
#include "rowlock/postgres_store.hpp"

namespace {

using namespace rowlock;
using std::chrono::milliseconds;

class commanded_holder {
 public:
  commanded_holder(const std::string& url, const std::string& schema, lock_key key,
                   milliseconds ttl)
      : table_{schema + ".shared_lock"},
        journal_{schema + ".journal"},
        key_{std::move(key)},
        store_{url, {.table = table_}},
        locks_{store_, {.ttl = ttl}},
        connection_{url},
        held_{*locks_.try_acquire(key_)} {}

  [[nodiscard]] version token() const { return held_.token(); }

  std::string obey(const std::string& order) {
    std::istringstream words{order};
    std::string verb;
    milliseconds::rep number = 0;
    words >> verb >> number;
    try {
      if (verb == "fence") return fence_with(milliseconds{number});
      if (verb == "commit") return commit();
      if (verb == "lease") return lease_now();
      if (verb == "clock") return wall_clock();
      if (verb == "wait") return wait_for_other(milliseconds{number});
      return "what?";
    } catch (const std::exception& thrown) {
      return std::string{"failed "} + thrown.what();
    }
  }

 private:
  std::string fence_with(milliseconds idle_limit) {
    work_.emplace(connection_);
    work_->exec("insert into " + journal_ + " values (" + std::to_string(token().number) + ")");
    fence(*work_, held_, {.idle_limit = idle_limit}, table_);
    return "fenced";
  }

  std::string commit() {
    work_->commit();
    work_.reset();
    return "committed";
  }

  [[nodiscard]] std::string lease_now() const {
    const auto left = std::chrono::duration_cast<milliseconds>(held_.remaining()).count();
    return (held_.is_valid() ? "valid " : "lost ") + std::to_string(left);
  }

  static std::string wall_clock() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  }

  std::string wait_for_other(milliseconds duration) {
    const auto taken = locks_.try_acquire(
        {.type = key_.type, .source_id = key_.source_id + "-other"}, {.wait = wait_for(duration)});
    if (taken.acquired()) return "acquired";
    std::ostringstream refused;
    refused << taken.refusal().reason;
    return refused.str();
  }

  table_name table_;
  std::string journal_;
  lock_key key_;
  postgres_store store_;
  lock_table locks_;
  pqxx::connection connection_;
  lease held_;
  std::optional<pqxx::work> work_;
};

}  // namespace

int main(int count, char** values) {
  try {
    const std::vector<std::string> arguments(values + 1, values + count);
    if (arguments.size() != 5) {
      std::cerr << "usage: rowlock_commanded_holder URL SCHEMA TYPE SOURCE TTL_MS\n";
      return 64;
    }
    commanded_holder holder{arguments[0],
                            arguments[1],
                            {.type = arguments[2], .source_id = arguments[3]},
                            milliseconds{std::stoll(arguments[4])}};
    std::cout << "acquired " << holder.token().number << std::endl;
    std::string order;
    while (std::getline(std::cin, order)) std::cout << holder.obey(order) << std::endl;
    return 0;
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
