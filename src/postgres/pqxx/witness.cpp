// The witness of a transaction's commit.
#include <algorithm>
#include <exception>
#include <optional>

#include "postgres/connecting.hpp"
#include "postgres/pqxx/connection.hpp"
#include "postgres/sql/transactions.hpp"
#include "postgres/transaction.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/error.hpp"
#include "rowlock/postgres_store.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock {

namespace {

using std::chrono::milliseconds;

/// None while the transaction is in progress.
std::optional<commit_fate> fate_in(const postgres::result_set::row& result) {
  const auto fate = result.text("fate");
  if (fate == "in progress") return std::nullopt;
  if (fate == "committed") return commit_fate::committed;
  if (fate == "aborted") return commit_fate::rolled_back;
  return commit_fate::unknown;
}

}  // namespace

class postgres_witness::impl {
 public:
  impl(postgres::connector connect, milliseconds patience)
      : connect_{std::move(connect)}, patience_{patience} {}

  [[nodiscard]] commit_fate fate_of(const std::string& transaction) const {
    const auto end = boot_clock::now() + patience_;
    for (milliseconds pause{5};; pause = std::min(2 * pause, milliseconds{250})) {
      if (const auto fate = read_fate(transaction)) return *fate;
      const auto next = boot_clock::now() + pause;
      if (next > end) return commit_fate::unknown;
      system_time()->sleep_until(next, {});
    }
  }

 private:
  /// None if the caller must retry.
  [[nodiscard]] std::optional<commit_fate> read_fate(const std::string& transaction) const {
    const auto space = transaction.find(' ');
    if (space == std::string::npos) return commit_fate::unknown;
    try {
      postgres::libpq_connection used{
          connect_(), {.longest = postgres::time_limits{}.tcp_user}, nullptr};
      const auto result = used.execute(
          postgres::statement_for({}, postgres::sql::fate),
          postgres::bound_values{transaction.substr(0, space), transaction.substr(space + 1)});
      return fate_in(result.front());
    } catch (const error& fault) {
      if (fault.kind() != errc::unavailable) return commit_fate::unknown;
    } catch (const postgres::libpq_failure& thrown) {
      if (!thrown.meaning().is_lost_connection()) return commit_fate::unknown;
    }
    return std::nullopt;
  }

  postgres::connector connect_;
  milliseconds patience_;
};

postgres_witness::postgres_witness(const std::string& connection_string, milliseconds patience)
    : impl_{std::make_shared<impl>(
          postgres::connector_to(postgres::conninfo{
              connection_string, {.statement = postgres::time_limits{}.tcp_user}}),
          patience)} {}

postgres_witness::postgres_witness(detail::make_connection make, milliseconds patience)
    : impl_{std::make_shared<impl>(postgres::connector_by(std::move(make)), patience)} {}

commit_fate postgres_witness::operator()(const std::string& transaction) const noexcept {
  try {
    return impl_->fate_of(transaction);
  } catch (const std::exception&) {  // perhaps out of memory; the fate is as unknown as before
    return commit_fate::unknown;
  }
}

}  // namespace rowlock
