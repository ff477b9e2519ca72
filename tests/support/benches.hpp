// The benches of rowlock's own stores.
#ifndef ROWLOCK_TESTS_SUPPORT_BENCHES_HPP
#define ROWLOCK_TESTS_SUPPORT_BENCHES_HPP

#include <memory>
#include <string>
#include <vector>

#include "rowlock/table_name.hpp"
#include "support/store_bench.hpp"

namespace rowlock::tests {

bench_kind sqlite_kind(history_option history = history_option::unchanged);
bench_kind postgres_kind(history_option history = history_option::unchanged);
bench_kind soci_mysql_kind(history_option history = history_option::unchanged);
std::unique_ptr<store_bench> make_soci_postgres_bench();
std::unique_ptr<store_bench> make_soci_sqlite_bench();

/// rowlock_contender, on a table of the database at `url`.
std::vector<std::string> contender_on(const std::string& url, const std::string& table);

}  // namespace rowlock::tests

#endif
