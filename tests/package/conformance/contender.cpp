// A program for the suite to kill. Its rows are in memory, so here it can only take its own keys.
#include <exception>
#include <iostream>
#include <rowlock/testing/memory_store.hpp>
#include <rowlock/testing/store_bench.hpp>
#include <string>
#include <vector>

int main(int count, char** values) {
  try {
    const std::vector<std::string> arguments(values + 1, values + count);
    rowlock::memory_store rows;
    rowlock::conformance::contend(rows, nullptr, std::span{arguments}.last<3>());
    return 0;
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
