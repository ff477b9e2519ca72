// An application that works through SOCI.
#ifndef ROWLOCK_TESTS_SUPPORT_SOCI_APPLICATION_HPP
#define ROWLOCK_TESTS_SUPPORT_SOCI_APPLICATION_HPP

#include <memory>
#include <string>

#include "support/application.hpp"

namespace rowlock::tests {

/// `target` is what SOCI connects to. The notes are in a table `note` beside it,
/// on MySQL in `<table>_note`.
std::unique_ptr<app_connection> connect_through_soci(const std::string& target,
                                                     const std::string& table);

}  // namespace rowlock::tests

#endif
