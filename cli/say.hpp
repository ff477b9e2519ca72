// Messages of the command, on the standard error.
#ifndef ROWLOCK_CLI_SAY_HPP
#define ROWLOCK_CLI_SAY_HPP

#include <chrono>
#include <string_view>

namespace rowlock::cli {

/// Writes `rowlock: message` as one line, safe for a terminal, and with `***` for each password
/// that is known: see `hide_passwords_of`.
///
/// Thread-safety: all functions here may be called from any thread.
void say(std::string_view message);

/// No message shows the passwords of this URL from now on, nor those of the environment
/// (PGPASSWORD, MYSQL_PWD). Call it before other threads say something.
void hide_passwords_of(std::string_view url);

/// From now on `say` waits for nothing: lines are written in a thread of their own, see
/// `message_writer`. For what goes on for long and must obey signals and the loss of its key
/// whether or not a process reads what it says. Call it once, before other threads say something.
/// Throws `error` (unavailable).
void say_in_background();

/// How long the process goes on for messages that are not written yet.
inline constexpr std::chrono::seconds time_for_last_words{1};

/// Returns once all that was said is written, after `limit` at the latest.
void await_said(std::chrono::milliseconds limit = time_for_last_words);

/// Ends the process once all that was said is written, after `time_for_last_words` at the latest.
/// No destructor runs.
[[noreturn]] void end_process(int exit_code);

}  // namespace rowlock::cli

#endif
