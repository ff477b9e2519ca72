// Two farms that take one lock, first within their data centres, then across them.
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include "origins/lock_manager/lock_manager.hpp"
#include "origins/support/open_store.hpp"

using namespace std::chrono_literals;
using origins::lock_level;

namespace {

void show(origins::lock_store& locks, lock_level level, const std::string& farm) {
  const char* const reach = level == lock_level::dc ? "in its data centre" : "across all";
  try {
    locks.write("reindex", level, farm, 30s);
    std::cout << farm << " has the lock " << reach << '\n';
  } catch (const origins::lock_unavailable& held) {
    std::cout << farm << " has no lock " << reach << ": " << held.what() << '\n';
  }
}

}  // namespace

int main(int arguments, char** argument) {
  try {
    const auto client = std::make_shared<origins::shared_client>(
        origins::open_store(arguments, argument, "lock_manager.db"));
    origins::lock_store one{client, "jobs"};
    origins::lock_store other{client, "jobs"};
    one.initialize();
    other.initialize();
    for (const auto level : {lock_level::dc, lock_level::xdc}) {
      show(one, level, "farm-1");
      show(other, level, "farm-2");
      one.remove("reindex", level, "farm-1");
      other.remove("reindex", level, "farm-2");
    }
    one.close();  // for both
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
