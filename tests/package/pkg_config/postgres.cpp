// A program with a store through libpqxx.
#include <rowlock/postgres_store.hpp>

int main() { const rowlock::postgres_store opened_later{"postgresql://nowhere/none"}; }
