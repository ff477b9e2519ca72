// Executing statements with bound values, on libpqxx 6.4 and 7.
#include "postgres/execute.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace rowlock::postgres {

namespace {

#if PQXX_VERSION_MAJOR < 7

/// libpqxx 6 takes any sequence whose elements it can turn into text; a null pointer is null.
std::vector<const char*> in_the_drivers_form(const bound_values& values) {
  std::vector<const char*> pointers;
  pointers.reserve(values.in_order().size());
  for (const auto& each : values.in_order()) pointers.push_back(each ? each->c_str() : nullptr);
  return pointers;
}

#else

pqxx::params in_the_drivers_form(const bound_values& values) {
  pqxx::params params;
  params.reserve(values.in_order().size());
  for (const auto& each : values.in_order()) {
    if (each) {
      params.append(*each);
    } else {
      params.append();
    }
  }
  return params;
}

#endif

answer answer_in(const pqxx::result& result) {
  std::vector<std::string> columns;
  for (pqxx::row::size_type i = 0; i < result.columns(); ++i) {
    columns.emplace_back(result.column_name(i));
  }
  answer answered{std::move(columns), static_cast<std::size_t>(result.affected_rows())};
  for (const auto& row : result) {
    for (const auto& field : row) {
      answered.add(field.is_null() ? std::nullopt
                                   : std::optional{std::string{field.c_str(), field.size()}});
    }
  }
  return answered;
}

}  // namespace

answer execute(pqxx::transaction_base& transaction, const std::string& sql,
               const bound_values& values) {
  const auto params = in_the_drivers_form(values);
#if PQXX_VERSION_MAJOR < 7
  return answer_in(transaction.exec_params(sql, pqxx::prepare::make_dynamic_params(params)));
#elif PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR < 10
  return answer_in(transaction.exec_params(sql, params));
#else
  return answer_in(transaction.exec(sql, params));
#endif
}

answer execute_prepared(pqxx::transaction_base& transaction, const std::string& name,
                        const bound_values& values) {
  const auto params = in_the_drivers_form(values);
#if PQXX_VERSION_MAJOR < 7
  return answer_in(transaction.exec_prepared(name, pqxx::prepare::make_dynamic_params(params)));
#elif PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR < 10
  return answer_in(transaction.exec_prepared(name, params));
#else
  return answer_in(transaction.exec(pqxx::prepped{name}, params));
#endif
}

}  // namespace rowlock::postgres
