// The reads and writes of one store call on a SQLite file.
#include "sqlite/file_access.hpp"

#include "rowlock/error.hpp"
#include "sqlite/database_file.hpp"
#include "sqlite/immediate.hpp"
#include "sqlite/sql/transactions.hpp"
#include "sqlite/statement.hpp"
#include "sqlite/writer_ticket.hpp"

namespace rowlock::sqlite {

namespace {

/// Some fifty writes; 32 processes that write all the time have at least six turns a second each.
constexpr std::chrono::milliseconds length_of_turn{5};

}  // namespace

bool file_access::try_read(const work& reading) {
  return succeeds_in_time(wait_, [&] { reading(rows_); });
}

template <class Write>
bool file_access::write_in_turn(const Write& write) {
  if (busy_wait::clock::now() < turn_end_) {
    busy_wait none{std::chrono::milliseconds::zero()};
    if (write(none)) return true;
  }
  const writer_ticket in_order{database_, wait_.end()};
  const auto turn_end = busy_wait::clock::now() + length_of_turn;
  if (!write(wait_)) return false;
  turn_end_ = turn_end;
  return true;
}

bool file_access::try_write(std::size_t statements, const work& writing) {
  if (statements != 1) {
    return try_write_if([&](row_statements& rows) {
      writing(rows);
      return true;
    });
  }
  return write_in_turn([&](busy_wait& wait) {
    try {
      return succeeds_in_time(wait, [&] { writing(rows_); });
    } catch (const failure& thrown) {
      throw_as_commit(thrown);
    }
  });
}

bool file_access::try_write_unflushed(std::size_t statements, const work& writing) {
  const auto set = [&](std::string_view how) {
    return succeeds_in_time(wait_, [&] { execute(database_, how); });
  };
  if (!set(sql::flush_no_commit)) return false;
  const bool is_written = try_write(statements, writing);
  until_not_busy(wait_, [&] { execute(database_, sql::flush_commits); });
  return is_written;
}

bool file_access::try_write_if(const std::function<bool(row_statements&)>& writing) {
  return write_in_turn([&](busy_wait& wait) { return write_and_commit(wait, writing); });
}

bool file_access::write_and_commit(busy_wait& wait,
                                   const std::function<bool(row_statements&)>& writing) {
  if (!begin_immediate(database_, wait)) return false;
  try {
    if (writing(rows_)) {
      commit(database_, wait);
    } else {
      roll_back(database_);
    }
    return true;
  } catch (const failure& thrown) {
    roll_back(database_);
    if (!is_busy(thrown)) throw;
    return false;
  }
}

bool file_access::has_writer() {
  if (is_read_only(database_)) return false;
  busy_wait none{std::chrono::milliseconds::zero()};
  if (!begin_immediate(database_, none)) return true;
  roll_back(database_);
  return false;
}

void throw_others_kept_the_file() {
  throw error{errc::unavailable,
              "others kept the SQLite file for longer than turn_timeout: try again, and keep "
              "transactions short"};
}

}  // namespace rowlock::sqlite
