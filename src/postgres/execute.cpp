// Executing statements with bound values, on libpqxx 6.4 and 7.
#include "postgres/execute.hpp"

namespace rowlock::postgres {

void array_literal::separate() {
  if (!elements_.empty()) elements_ += ',';
}

void array_literal::add(std::string_view element) {
  separate();
  elements_ += '"';
  for (const char c : element) {
    if (c == '"' || c == '\\') elements_ += '\\';
    elements_ += c;
  }
  elements_ += '"';
}

void array_literal::add(std::int64_t element) {
  separate();
  elements_ += std::to_string(element);
}

void array_literal::add(bool element) {
  separate();
  elements_ += element ? 't' : 'f';
}

void array_literal::add(const std::optional<std::int64_t>& element) {
  if (element) return add(*element);
  separate();
  elements_ += "NULL";
}

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

}  // namespace

pqxx::result execute(pqxx::transaction_base& transaction, const std::string& sql,
                     const bound_values& values) {
  const auto params = in_the_drivers_form(values);
#if PQXX_VERSION_MAJOR < 7
  return transaction.exec_params(sql, pqxx::prepare::make_dynamic_params(params));
#elif PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR < 10
  return transaction.exec_params(sql, params);
#else
  return transaction.exec(sql, params);
#endif
}

pqxx::result execute_prepared(pqxx::transaction_base& transaction, const std::string& name,
                              const bound_values& values) {
  const auto params = in_the_drivers_form(values);
#if PQXX_VERSION_MAJOR < 7
  return transaction.exec_prepared(name, pqxx::prepare::make_dynamic_params(params));
#elif PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR < 10
  return transaction.exec_prepared(name, params);
#else
  return transaction.exec(pqxx::prepped{name}, params);
#endif
}

}  // namespace rowlock::postgres
