// A result of libpq.
#ifndef ROWLOCK_POSTGRES_LIBPQ_RESULT_HPP
#define ROWLOCK_POSTGRES_LIBPQ_RESULT_HPP

#include <libpq-fe.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "postgres/values.hpp"

namespace rowlock::postgres {

struct clear_result {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using raw_result = std::unique_ptr<PGresult, clear_result>;

inline bool has_failed(const PGresult* result) {
  const auto status = PQresultStatus(result);
  return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK;
}

inline bool is_copy(const PGresult* result) {
  const auto status = PQresultStatus(result);
  return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

class libpq_result final : public driver_result {
 public:
  explicit libpq_result(raw_result result) : result_{std::move(result)} {}

  [[nodiscard]] std::size_t rows() const override {
    return static_cast<std::size_t>(PQntuples(result_.get()));
  }
  [[nodiscard]] std::size_t columns() const override {
    return static_cast<std::size_t>(PQnfields(result_.get()));
  }
  [[nodiscard]] std::string_view name(std::size_t column) const override {
    return PQfname(result_.get(), static_cast<int>(column));
  }
  [[nodiscard]] std::optional<std::string_view> cell(std::size_t row,
                                                     std::size_t column) const override {
    const int y = static_cast<int>(row);
    const int x = static_cast<int>(column);
    if (PQgetisnull(result_.get(), y, x) != 0) return std::nullopt;
    return std::string_view{PQgetvalue(result_.get(), y, x),
                            static_cast<std::size_t>(PQgetlength(result_.get(), y, x))};
  }
  [[nodiscard]] std::size_t affected_rows() const override {
    return std::strtoull(PQcmdTuples(result_.get()), nullptr, 10);
  }

 private:
  raw_result result_;
};

}  // namespace rowlock::postgres

#endif
