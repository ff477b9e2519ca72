// Two farms and their lock managers.
#include <iostream>

#include "origins/lock_manager/lock_manager.hpp"
#include "origins/support/open_store.hpp"

using namespace std::chrono_literals;
using origins::lock_level;

namespace {

void show(origins::lock_store& locks, const char* farm, lock_level level) {
  const char* const reach = level == lock_level::dc ? "in its data centre" : "across all";
  try {
    locks.write("reindex", level, 30s);
    std::cout << farm << " has the lock " << reach << '\n';
  } catch (const origins::lock_unavailable& held) {
    std::cout << farm << " has no lock " << reach << ": " << held.what() << '\n';
  }
}

}  // namespace

int main(int arguments, char** argument) {
  try {
    const std::shared_ptr<rowlock::store> client =
        origins::open_store(arguments, argument, "lock_manager.db");
    origins::lock_store one{client, [] {}, {.farm_id = "farm-1", .set_suffix = "jobs"}};
    origins::lock_store other{client, [] {}, {.farm_id = "farm-2", .set_suffix = "jobs"}};
    one.initialize();
    other.initialize();
    for (const auto level : {lock_level::dc, lock_level::xdc}) {
      show(one, "farm-1", level);
      show(other, "farm-2", level);
      one.remove("reindex", level);
      other.remove("reindex", level);
    }
    one.close();
    other.close();
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
