// What operators see: the server, the rights of a user there, and the history.
#ifndef ROWLOCK_MYSQL_INSPECTING_HPP
#define ROWLOCK_MYSQL_INSPECTING_HPP

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "mysql/executor.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::mysql {

/// MariaDB, MySQL, or which other product this is, by the version or its comment.
std::string_view product_of(std::string_view text);

/// The product, with the version of the server's greeting. No round trip.
inspection server_of(const connection& session);

/// None without a table. Executes no statement that writes: the server is asked to explain each,
/// and refuses those that the user may not execute. Six round trips. Throws
/// `soci::mysql_soci_error`.
std::optional<std::vector<inspection::missing_right>> missing_rights(executor& exec,
                                                                     const table_name& table);

/// See `inspection::connection_limit`. One round trip. Throws `soci::mysql_soci_error`.
std::optional<int> connection_limit(executor& exec);

/// See `store::history`.
history_page history(executor& exec, const history_request& request);
std::size_t purge_history(executor& exec, const history_purge_request& request);

}  // namespace rowlock::mysql

#endif
