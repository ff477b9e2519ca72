// The command line of rowlock, made of its subcommands.
#include "cli/command_tree.hpp"

#include <CLI/CLI.hpp>

namespace rowlock::cli {

namespace {

constexpr auto program_help =
    R"(Every user of the machine can read a command line. So a URL with a password is better given as the variable
ROWLOCK_URL, or in a file that only its owner can read (--url-file; others are refused), of which the first
line counts. A URL in the command line goes before the variable, and so does the file; both at once are
refused. A command that run or lead starts has the variable too.

URLs:
  sqlite:///absolute/path                 a SQLite file; %XX stands for a byte
  postgresql://user@host/database         whatever libpq takes, or keywords: 'host=db dbname=shop'
  mysql://user@host:port/database         MariaDB or MySQL; mariadb:// is the same, and %XX stands for a
                                          byte; parameters follow: ?sslca=/etc/ca.pem
  'mysql://host=db user=app dbname=shop'  as SOCI reads it
  soci:BACKEND://PARAMETERS               through SOCI, as in 'soci:postgresql://host=db dbname=shop'

Exit codes: the subcommands have more of them, see their --help.
   0  success
  64  wrong usage
  69  the database is unavailable or refused the request
  70  it is not known what happened
  74  the output could not be written

Environment:
  ROWLOCK_URL  the URL where the command line has neither URL nor --url-file
  PGPASSWORD   the password for PostgreSQL where the URL has none
  MYSQL_PWD    the password for MariaDB and MySQL where the URL has none

Files:
  ~/.pgpass    passwords for PostgreSQL, as libpq reads them

Examples:
  rowlock migrate sqlite:///tmp/locks.db
  rowlock run sqlite:///tmp/locks.db --type cron --source nightly -- sh -c 'echo $ROWLOCK_TOKEN')";

}  // namespace

std::unique_ptr<CLI::App> command_tree(const std::vector<std::string>& command, action& chosen) {
  auto tree = std::make_unique<CLI::App>("Locks that are rows in your SQL database", "rowlock");
  tree->set_version_flag("--version", "rowlock " ROWLOCK_VERSION);
  tree->require_subcommand(1);
  tree->option_defaults()->always_capture_default();
  tree->footer(program_help);
  add_migrate(*tree, chosen);
  add_doctor(*tree, chosen);
  add_run(*tree, command, chosen);
  add_lead(*tree, command, chosen);
  add_list(*tree, chosen);
  add_top(*tree, chosen);
  add_watch(*tree, chosen);
  add_show(*tree, chosen);
  add_history(*tree, chosen);
  add_release(*tree, chosen);
  add_purge(*tree, chosen);
#ifdef ROWLOCK_WEB
  add_serve(*tree, chosen);
  add_report(*tree, chosen);
#endif
  add_completion(*tree, chosen);
  for (auto* const subcommand : tree->get_subcommands({})) {
    for (auto* const option : subcommand->get_options()) {
      if (option->get_default_str() == "[]") option->default_str("");  // an empty list is none
    }
  }
  return tree;
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& tree) {
  return tree.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

}  // namespace rowlock::cli
