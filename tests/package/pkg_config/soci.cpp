// A program with a store through SOCI.
#include <rowlock/soci_store.hpp>

int main() { const rowlock::soci_store opened_later{"mysql://host=nowhere db=none"}; }
