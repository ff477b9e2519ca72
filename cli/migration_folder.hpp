// Folders of migrations, as Flyway, Sqitch, golang-migrate, Liquibase and dbmate take them.
#ifndef ROWLOCK_CLI_MIGRATION_FOLDER_HPP
#define ROWLOCK_CLI_MIGRATION_FOLDER_HPP

#include <string>
#include <string_view>
#include <vector>

#include "cli/database_url.hpp"
#include "cli/new_folder.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::cli {

enum class migration_format { plain, flyway, sqitch, golang_migrate, liquibase, dbmate };

/// Throws `error` (misuse) that lists the words.
migration_format migration_format_of(std::string_view text);

enum class sql_language { postgresql, sqlite, mysql };

sql_language language_of(const database_url& url);

/// Migrations of one table, in order.
struct migration_series {
  sql_language language = sql_language::postgresql;
  table_name table;
  std::vector<migration> steps;
};

struct migration_folder {
  std::vector<text_file> files;
  /// What a user runs next, for the shell; words in capitals are theirs.
  std::string next;
};

/// The folder that is to be created as `path`. Both directions of each step are in it.
migration_folder folder_of(migration_format format, const migration_series& series,
                           const std::string& path);

}  // namespace rowlock::cli

#endif
