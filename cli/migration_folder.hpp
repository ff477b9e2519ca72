// Folders of migrations, as Flyway, Sqitch, golang-migrate, Liquibase and dbmate take them.
#ifndef ROWLOCK_CLI_MIGRATION_FOLDER_HPP
#define ROWLOCK_CLI_MIGRATION_FOLDER_HPP

#include <string>
#include <string_view>
#include <vector>

#include "cli/choice.hpp"
#include "cli/database_url.hpp"
#include "cli/new_folder.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::cli {

enum class migration_format { plain, flyway, sqitch, golang_migrate, liquibase, dbmate };

inline constexpr choices<migration_format, 6> migration_formats{
    {{"plain", migration_format::plain},
     {"flyway", migration_format::flyway},
     {"sqitch", migration_format::sqitch},
     {"golang-migrate", migration_format::golang_migrate},
     {"liquibase", migration_format::liquibase},
     {"dbmate", migration_format::dbmate}}};

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
