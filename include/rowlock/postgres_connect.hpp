// Connections to PostgreSQL that the application makes.
#ifndef ROWLOCK_POSTGRES_CONNECT_HPP
#define ROWLOCK_POSTGRES_CONNECT_HPP

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace rowlock::detail {

/// pqxx::connection is a typedef in libpqxx 6 and a class in 7, so it cannot be named here.
struct made_connection {
  std::shared_ptr<void> connection;
  const std::type_info* type = nullptr;
};
using make_connection = std::function<made_connection()>;

/// What returns a `std::unique_ptr<pqxx::connection>`, new at each call.
template <class Make>
concept connection_factory =
    std::is_invocable_v<Make&> && !std::is_convertible_v<Make, std::string>;

template <class Make>
make_connection erased(Make make) {
  return [make = std::move(make)]() mutable -> made_connection {
    auto opened = make();
    using connection = std::remove_reference_t<decltype(*opened)>;
    return {std::shared_ptr<connection>{std::move(opened)}, &typeid(connection)};
  };
}

}  // namespace rowlock::detail

#endif
