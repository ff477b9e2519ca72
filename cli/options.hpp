// Command-line options of several subcommands.
#ifndef ROWLOCK_CLI_OPTIONS_HPP
#define ROWLOCK_CLI_OPTIONS_HPP

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/command_tree.hpp"
#include "cli/database_url.hpp"
#include "cli/say.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::cli {

/// Adds an option with a value, as help texts show it: `--type TYPE`.
template <class Value>
CLI::Option* add_value(CLI::App& subcommand, const std::string& shown, Value& value,
                       const std::string& description) {
  const auto gap = shown.find(' ');
  return subcommand.add_option(shown.substr(0, gap), value, description)
      ->type_name(shown.substr(gap + 1));
}

/// The database and the table.
struct table_options {
  std::optional<std::string> url;
  std::optional<std::string> url_file;
  std::string table = "shared_lock";

  void add_to(CLI::App& subcommand);

  /// The URL of the command line, else the one in the file, else that of the environment. Throws
  /// `error` (misuse) if there is none, and for a file that users other than its owner may read.
  [[nodiscard]] database_url database() const;

  /// Whether the URL is in a file that can be read again, which a pipe or a terminal cannot: after
  /// a refused login it may have another password.
  [[nodiscard]] bool may_change() const;

  /// The store of `first`, which `database` returned. It reads a URL that may change again after a
  /// refused login. Opens nothing yet.
  [[nodiscard]] std::unique_ptr<store> open(const database_url& first) const;

  /// The same for callers that connect to nothing: `sqlite://` need not name a file.
  [[nodiscard]] database_url kind_of_database() const;

 private:
  [[nodiscard]] std::string url_as_given() const;
};

/// A new subcommand with the options of `where`, and its own options; naming it chooses `run`.
template <class Options>
auto add_table_command(CLI::App& app, action& chosen, const std::string& name,
                       const std::string& description, int (*run)(const Options&)) {
  const auto options = std::make_shared<Options>();
  CLI::App* const subcommand = app.add_subcommand(name, description);
  options->where.add_to(*subcommand);
  subcommand->callback([=, &chosen] { chosen = [=] { return run(*options); }; });
  return std::pair{subcommand, options};
}

/// The options that name one key.
struct key_options {
  lock_key key;

  void add_to(CLI::App& subcommand);

  /// `type/source`.
  [[nodiscard]] std::string in_words() const { return cli::in_words(key); }
};

/// For actions that cannot be undone.
class confirmation {
 public:
  void add_to(CLI::App& subcommand) {
    subcommand.add_flag("--yes", is_given_, "Do it without a question; needed without a terminal");
  }

  /// Throws `error` (misuse) if there is neither a confirmation yet nor a terminal to prompt on.
  void require_terminal() const;

  /// Prompts unless the confirmation is given already. Everything but `y` and `yes`, in capitals or
  /// not, means no; so does the end of input.
  [[nodiscard]] bool is_given_for(const std::string& question) const;

 private:
  bool is_given_ = false;
};

/// The options that choose rows and their order, for list and top.
struct list_options {
  std::optional<std::string> type;
  std::optional<std::string> holder;
  std::string state = "any";
  std::string sort = "key";
  std::string color = "auto";

  void add_to(CLI::App& subcommand);

  /// The options as a request, which is checked. Throws `error` (misuse).
  [[nodiscard]] list_request request() const;
  /// Whether to print colours: as `--color` says, else to a terminal without NO_COLOR. Throws
  /// `error` (misuse).
  [[nodiscard]] bool has_colors() const;
};

/// `key`, `age`, `left`.
std::string word_of(row_order order);
/// `any`, `held`, `run-out`, `closed`.
std::string word_of(row_filter state);

/// The options of commands that read the history: from when, until when.
struct period_options {
  /// 24 hours before `until` if not given.
  std::optional<std::string> since = std::nullopt;
  std::string until = "now";

  void add_to(CLI::App& subcommand);

  /// The request with both times, by the database's time `now`. Without an end if that is `now`:
  /// events that are written meanwhile are shown. Throws `error` (misuse) if it is not valid.
  [[nodiscard]] history_request of(history_request request, database_time now) const;

  /// Throws as `of` does at any time of the database, before that is known.
  void check_any_time(const history_request& request) const;

 private:
  [[nodiscard]] history_request unchecked(history_request request, database_time now) const;
};

}  // namespace rowlock::cli

#endif
