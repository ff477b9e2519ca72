// A program with the core alone.
#include <rowlock/lock_key.hpp>

int main() { rowlock::check({"invoice", "42"}); }
