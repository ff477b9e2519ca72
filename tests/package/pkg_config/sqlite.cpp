// A program with a store through SQLiteCpp.
#include <rowlock/sqlite_store.hpp>

int main() { const rowlock::sqlite_store opened_later{"none.db"}; }
