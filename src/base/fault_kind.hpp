// What kind of fault an exception is.
#ifndef ROWLOCK_BASE_FAULT_KIND_HPP
#define ROWLOCK_BASE_FAULT_KIND_HPP

#include <exception>
#include <optional>

#include "rowlock/error.hpp"

namespace rowlock::detail {

/// None: it is not ours.
std::optional<errc> kind_of(const std::exception_ptr& fault);

/// Whether it may pass by itself: the database is away, or the answer got lost.
bool may_pass(const std::exception_ptr& fault);

}  // namespace rowlock::detail

#endif
