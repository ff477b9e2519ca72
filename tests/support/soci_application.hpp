// An application that works through SOCI.
#ifndef ROWLOCK_TESTS_SUPPORT_SOCI_APPLICATION_HPP
#define ROWLOCK_TESTS_SUPPORT_SOCI_APPLICATION_HPP

#include <memory>
#include <string>

#include "support/application.hpp"

namespace rowlock::tests {

/// `target` is what SOCI connects to. The application's tables are `note` and `seat` beside it,
/// on MySQL `<table>_note` and `<table>_seat`.
std::unique_ptr<app_connection> connect_through_soci(const std::string& target,
                                                     const std::string& table);

}  // namespace rowlock::tests

#endif
