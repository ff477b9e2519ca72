// Applications on the databases of rowlock.
#ifndef ROWLOCK_TESTS_SUPPORT_DATABASE_APPLICATION_HPP
#define ROWLOCK_TESTS_SUPPORT_DATABASE_APPLICATION_HPP

#include <memory>
#include <string>

#include "support/application.hpp"

namespace rowlock::tests {

/// On the database's file or server, with `table` as the lock table. The application's tables,
/// `note` and `seat`, are beside it; one of the functions below made them.
std::unique_ptr<app_connection> connect_to_sqlite(const std::string& path,
                                                  const std::string& table);
std::unique_ptr<app_connection> connect_to_postgres(const std::string& url,
                                                    const std::string& table);

/// `schema.note` and `schema.seat` for `schema.shared_lock`.
std::string notes_beside(const std::string& table);
std::string seats_beside(const std::string& table);
void create_sqlite_application(const std::string& path);
void create_postgres_application(const std::string& table);

}  // namespace rowlock::tests

#endif
