// A message that is delivered several times, and processed once.
#include <exception>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>

#include "origins/processing_markers/processing_markers.hpp"
#include "origins/support/open_store.hpp"

namespace {

std::string shown(const origins::process_result& result) {
  switch (result.status) {
    case origins::process_status::done:
      return result.is_marked ? "done" : "done, but not marked";
    case origins::process_status::processing:
      return "nothing done, it is PROCESSING";
    case origins::process_status::processed:
      break;
  }
  return "nothing done, it is PROCESSED";
}

void call_the_simple_form(origins::processing_markers& markers, const std::string& key) {
  std::cout << "set if absent:\n";
  int done = 0;
  for (int call = 1; call <= 3; ++call) {
    const bool acquired = markers.do_if_acquired(key, [&] { ++done; });
    std::cout << "  call " << call << ": " << (acquired ? "done" : "nothing done") << '\n';
  }
  std::cout << "  done " << done << " time\n";
}

void call_the_better_form(origins::processing_markers& markers, const std::string& key) {
  std::cout << "PROCESSING for 20 s, PROCESSED for 200 s:\n";
  int calls = 0;
  const auto process = [&] {
    ++calls;
    if (calls < 4) throw std::runtime_error{"no paper"};
    std::cout << "  while it runs: " << shown(markers.do_once(key, [] {})) << '\n';
  };
  for (int call = 1; call <= 5; ++call) {
    try {
      const auto result = markers.do_once(key, process);
      std::cout << "  call " << call << ": " << shown(result) << '\n';
    } catch (const std::runtime_error& problem) {
      std::cout << "  call " << call << ": failed, " << problem.what() << '\n';
    }
  }
  std::cout << "  called " << calls << " times; the key says "
            << markers.get(key).value_or("nothing") << '\n';
}

}  // namespace

int main(int arguments, char** argument) {
  try {
    const auto rows = origins::open_store(arguments, argument, "processing_markers.db");
    origins::processing_markers markers{*rows};
    const std::string run = std::to_string(std::random_device{}());  // so that it can run again
    call_the_simple_form(markers, "once-" + run);
    call_the_better_form(markers, "order-" + run);
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
