// The databases of rowlock with a history, for the conformance suite: triggers change no answer.
#include "support/benches.hpp"

namespace rowlock {

std::vector<conformance::bench_kind> conformance::every_store() {
  return {tests::sqlite_kind(history_option::with), tests::postgres_kind(history_option::with),
          tests::soci_mysql_kind(history_option::with)};
}

}  // namespace rowlock
