// A message that comes five times, and whose first three attempts fail.
#include <iostream>
#include <stdexcept>

#include "origins/processing_markers/processing_markers.hpp"
#include "origins/support/open_store.hpp"

int main(int arguments, char** argument) {
  try {
    const auto rows = origins::open_store(arguments, argument, "processing_markers.db");
    origins::processing_markers markers{*rows};
    int calls = 0;
    const auto print = [&] {
      if (++calls <= 3) throw std::runtime_error{"the printer is out of paper"};
      std::cout << "printed\n";
    };
    for (int delivery = 1; delivery <= 5; ++delivery) {
      try {
        const auto done = markers.do_if_acquired("order-17", print);
        if (done.met == origins::marker::processed) std::cout << "dropped: PROCESSED\n";
      } catch (const std::runtime_error& failed) {
        std::cout << "failed: " << failed.what() << '\n';
      }
    }
    std::cout << "called " << calls << " times\n";
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
