// Messages of the command, on the standard error.
#ifndef ROWLOCK_CLI_SAY_HPP
#define ROWLOCK_CLI_SAY_HPP

#include <chrono>
#include <sstream>
#include <string>
#include <string_view>

namespace rowlock::cli {

/// As `<<` prints it.
template <class Value>
std::string in_words(const Value& value) {
  std::ostringstream words;
  words << value;
  return words.str();
}

/// Writes `rowlock: message` as one line, escaped for a terminal, with `***` for each known
/// password: see `hide_passwords_of`.
///
/// Thread-safety: all functions here may be called from any thread.
void say(std::string_view message);

/// From now on no message shows the passwords of this URL, nor those of the environment
/// (PGPASSWORD, MYSQL_PWD).
void hide_passwords_of(std::string_view url);

/// `text` with `***` for each known password, for texts that leave by another way than `say`.
std::string without_passwords(std::string text);

/// From now on `say` does not block: a thread writes the lines, see `message_writer`. For
/// subcommands that run for long, and that must obey signals and the loss of their key even if no
/// process reads the messages. Call it once, before other threads print messages. Throws `error`
/// (unavailable).
void say_in_background();

/// How long the process waits at its end for messages that are not written yet.
inline constexpr std::chrono::seconds time_for_last_words{1};

/// Returns once all messages are written, after `limit` at the latest.
void await_said(std::chrono::milliseconds limit = time_for_last_words);

/// Ends the process once all messages are written, after `time_for_last_words` at the latest. No
/// destructor runs.
[[noreturn]] void end_process(int exit_code);

}  // namespace rowlock::cli

#endif
