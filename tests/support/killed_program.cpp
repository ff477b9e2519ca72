// A test program that starts what tests start, and waits for its own end.
//
// rowlock_killed_program KIND: says `started` once the processes of that kind run.
#include <sys/types.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <thread>

#include "support/child_process.hpp"
#include "support/forked_child.hpp"
#include "support/own_mariadb.hpp"
#include "support/own_postgres.hpp"
#include "support/postgres_cluster.hpp"

namespace rowlock::tests {
namespace {

[[noreturn]] void wait_for_the_end() {
  std::cout << "started" << std::endl;
  for (;;) pause();
}

void stubborn_shell() {
  // Started by a thread that ends, with a child of its own, deaf to SIGTERM, SIGINT and SIGHUP.
  child_process* shell = nullptr;
  std::thread{[&shell] {
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): it ends with the program
    shell = new child_process{
        {"sh", "-c", "trap '' TERM INT HUP; sleep 1d & echo up; while :; do wait $!; done"}};
  }}.join();
  shell->read_line();
  wait_for_the_end();
}

void forked_child() {
  complaints_of_child([](std::vector<std::string>& /*complaints*/) { wait_for_the_end(); });
}

void postgres() {
  const own_postgres server;
  wait_for_the_end();
}

void mariadb() {
  const own_mariadb server;
  wait_for_the_end();
}

void cluster() {
  postgres_cluster server;
  server.start();
  wait_for_the_end();
}

}  // namespace
}  // namespace rowlock::tests

int main(int argc, char** argv) try {
  using namespace rowlock::tests;
  const std::map<std::string, std::function<void()>> kinds{{"shell", stubborn_shell},
                                                           {"fork", forked_child},
                                                           {"postgres", postgres},
                                                           {"mariadb", mariadb},
                                                           {"cluster", cluster}};
  kinds.at(argc > 1 ? argv[1] : "")();
  return 0;
} catch (const std::exception& thrown) {
  std::cerr << "rowlock_killed_program: " << thrown.what() << '\n';
  return 1;
}
