// Statements with bound values in transactions of libpqxx 6.4 to 8, and the state of these.
#include <libpq-events.h>
#include <libpq-fe.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "postgres/pqxx/connection.hpp"

namespace rowlock::postgres {

namespace {

class pqxx_result final : public driver_result {
 public:
  explicit pqxx_result(const pqxx::result& result) : result_{result} {}

  [[nodiscard]] std::size_t rows() const override {
    return static_cast<std::size_t>(result_.size());
  }
  [[nodiscard]] std::size_t columns() const override {
    return static_cast<std::size_t>(result_.columns());
  }
  [[nodiscard]] std::string_view name(std::size_t column) const override {
    return result_.column_name(static_cast<pqxx::row::size_type>(column));
  }
  [[nodiscard]] std::optional<std::string_view> cell(std::size_t row,
                                                     std::size_t column) const override {
    // The text belongs to the result, and outlives the field.
    const auto field = result_[static_cast<pqxx::result::size_type>(row)]
                              [static_cast<pqxx::row::size_type>(column)];
    if (field.is_null()) return std::nullopt;
    return std::string_view{field.c_str(), field.size()};
  }
  [[nodiscard]] std::size_t affected_rows() const override {
    return static_cast<std::size_t>(result_.affected_rows());
  }

 private:
  const pqxx::result result_;
};

result_set result_in(const pqxx::result& result) {
  return result_set{std::make_unique<pqxx_result>(result)};
}

#if PQXX_VERSION_MAJOR < 7

using texts = std::span<const char* const>;

template <class Send, std::size_t... Places>
pqxx::result send_each(const Send& send, [[maybe_unused]] texts values,
                       std::index_sequence<Places...> /*places*/) {
  return send(values[Places]...);
}

/// libpqxx 6 allocates once per value, unless the values are separate arguments of the call.
template <std::size_t Count = 0, class Send>
pqxx::result send_with(const Send& send, texts values) {
  if constexpr (Count < bound_values::most) {
    if (values.size() > Count) return send_with<Count + 1>(send, values);
  }
  return send_each(send, values, std::make_index_sequence<Count>{});
}

#else

pqxx::params in_the_drivers_form(const bound_values& values) {
  pqxx::params params;
  params.reserve(values.texts().size());
  for (const char* const each : values.texts()) {
    if (each != nullptr) {
      params.append(std::string{each});
    } else {
      params.append();
    }
  }
  return params;
}

#endif

}  // namespace

result_set execute(pqxx::transaction_base& transaction, const std::string& sql,
                   const bound_values& values) {
#if PQXX_VERSION_MAJOR < 7
  const auto send = [&](auto... each) { return transaction.exec_params(sql, each...); };
  return result_in(send_with(send, values.texts()));
#elif PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR < 10
  return result_in(transaction.exec_params(sql, in_the_drivers_form(values)));
#else
  return result_in(transaction.exec(sql, in_the_drivers_form(values)));
#endif
}

result_set run(pqxx::transaction_base& transaction, const std::string& script) {
  return result_in(transaction.exec(script));
}

namespace {

PGconn* private_handle_of(const any_connection& connection) noexcept;

// An explicit instantiation may name a private member. libpqxx has no public one for this from 6.4
// to 8.0; should the private one go, this does not compile.
template <auto Member>
struct access {
  friend PGconn* private_handle_of(const any_connection& connection) noexcept {
    return (connection.*Member)();
  }
};
template struct access<&any_connection::raw_connection>;

}  // namespace

PGconn* handle_of(const any_connection& connection) noexcept {
  return private_handle_of(connection);
}

#if PQXX_VERSION_MAJOR < 7

namespace {

/// libpq calls it with each result. The connection's data is null, unless the last statement failed
/// that was no ROLLBACK.
int note_failure(PGEventId event, void* details, void* /*ours*/) {
  if (event != PGEVT_RESULTCREATE) return 1;
  static char failed;
  const auto* const created = static_cast<const PGEventResultCreate*>(details);
  const bool has_failed = PQresultStatus(created->result) == PGRES_FATAL_ERROR;
  const std::string_view done = PQcmdStatus(created->result);
  if (has_failed || done != "ROLLBACK") {
    PQsetInstanceData(created->conn, note_failure, has_failed ? &failed : nullptr);
  }
  return 1;
}

}  // namespace

void watch_for_aborts(any_connection& connection) noexcept {
  auto* const handle = handle_of(connection);
  // Fails if it was called for this connection before.
  PQregisterEventProc(handle, note_failure, "rowlock", nullptr);
  PQsetInstanceData(handle, note_failure, nullptr);
}

bool was_aborted_by_driver(const any_connection& connection) noexcept {
  return PQinstanceData(handle_of(connection), note_failure) != nullptr;
}

#else

// A failed statement leaves the transaction as it is, for the callback or for us to roll back.
void watch_for_aborts(any_connection& /*connection*/) noexcept {}
bool was_aborted_by_driver(const any_connection& /*connection*/) noexcept { return false; }

#endif

}  // namespace rowlock::postgres
