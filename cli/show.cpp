// rowlock show: everything that is known of one key.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/action.hpp"
#include "cli/database_url.hpp"
#include "cli/duration.hpp"
#include "cli/exit_codes.hpp"
#include "cli/key_options.hpp"
#include "cli/printable.hpp"
#include "cli/say.hpp"
#include "cli/shown_row.hpp"
#include "cli/table_options.hpp"
#include "rowlock/operators.hpp"

namespace rowlock::cli {

namespace {

struct show_options {
  table_options where;
  key_options which;
  bool json = false;
};

/// Prints nothing for an empty text.
void print_line(const std::string& name, const std::string& text) {
  if (text.empty()) return;
  std::cout << std::left << std::setw(11) << name << printable(text) << '\n';
}

std::string done_in_words(const done_mark& done) {
  return to_the_second(done.at) + " UTC by version " + std::to_string(done.by.number) +
         ", remembered for another " + show_duration(done.remaining);
}

void print_text(const row_state& row) {
  print_line("state", state_of(row));
  print_line("used by", row.used_by.value_or(""));
  print_line("holder", row.holder);
  if (row.owned) print_line("since", to_the_second(row.acquired_at) + " UTC");
  if (row.is_live()) print_line("remaining", show_duration(*row.remaining));
  print_line("version", std::to_string(row.version.number));
  print_line("note", row.note);
  if (row.done) print_line("done", done_in_words(*row.done));
  print_line("failures", std::to_string(row.failure_count));
  print_line("expiries", std::to_string(row.expiry_count));
  print_line("forced", row.force_reason);
}

int show_now(const show_options& options) {
  const auto rows = open_store(options.where.database(), table_name{options.where.table});
  const auto row = show(*rows, options.which.key);
  if (options.json) {
    print_json(row ? json_of(*row) : nullptr);
  } else if (row) {
    print_text(*row);
  }
  if (row) return exit_code::success;
  say(options.which.in_words() + " has no row: nobody has had it yet, or it was purged");
  return exit_code::missing;
}

}  // namespace

void add_show(CLI::App& app, action& chosen) {
  const auto options = std::make_shared<show_options>();
  CLI::App* show = app.add_subcommand("show", "Show everything that is known of one key");
  options->where.add_to(*show);
  options->which.add_to(*show);
  show->add_flag("--json", options->json, "An object, for programs; null if there is no row");
  show->footer(
      R"(state: held; closed (it has no holder, and cannot be taken yet); busy (a transaction has the row: a row lock,
or a fence that is not committed); run out (its holder let it, and the key was not taken since); free.
used by: that transaction, also of a key that is held. On PostgreSQL it is the session, as far as this role
may see it; pg_terminate_backend(pid) ends it. On SQLite it is any transaction that writes to the file.
failures: commands and callbacks that failed. expiries: leases that ran out and were taken over.
forced: reason and label of the last release by force.

The fields of the JSON object: type, source, state, holder, since, remaining_ms, version, note, done (null,
or by, at and remaining_ms), failures, expiries, force_reason, used_by (null, or text).

Exit code: 66 if the key has no row.

Example:
  rowlock show postgresql://app@db/shop --type invoice --source 42 --json | jq .holder)");
  show->callback([options, &chosen] { chosen = [options] { return show_now(*options); }; });
}

}  // namespace rowlock::cli
