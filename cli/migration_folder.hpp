// Folders of migrations, as Flyway, Sqitch, golang-migrate, Liquibase and dbmate take them.
#ifndef ROWLOCK_CLI_MIGRATION_FOLDER_HPP
#define ROWLOCK_CLI_MIGRATION_FOLDER_HPP

#include <string>
#include <vector>

#include "cli/database_url.hpp"
#include "cli/values.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::cli {

enum class sql_language { postgresql, sqlite, mysql };

sql_language language_of(const database_url& url);

/// `sql` of a migration as the clients of MariaDB and MySQL read it: with DELIMITER around
/// triggers, which they would cut at the semicolons within.
std::string for_clients(std::string sql);

/// Migrations of one table, in order.
struct migration_series {
  sql_language language = sql_language::postgresql;
  table_name table;
  std::vector<migration> steps;
};

struct text_file {
  /// Within the folder; may name folders of its own.
  std::string path;
  std::string text;
};

struct migration_folder {
  std::vector<text_file> files;
  /// What a user runs next, for the shell; words in capitals are theirs.
  std::string next;
};

/// The folder that is to be created as `path`. Both directions of each step are in it.
using folder_maker = migration_folder(const migration_series& series, const std::string& path);
folder_maker plain_folder, flyway_folder, sqitch_folder, golang_migrate_folder, liquibase_folder,
    dbmate_folder;

inline constexpr choices<folder_maker*, 6> migration_formats{
    {{"plain", plain_folder},
     {"flyway", flyway_folder},
     {"sqitch", sqitch_folder},
     {"golang-migrate", golang_migrate_folder},
     {"liquibase", liquibase_folder},
     {"dbmate", dbmate_folder}}};

}  // namespace rowlock::cli

#endif
