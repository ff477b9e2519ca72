// Folios that are saved if their version is unchanged, and persons that are locked to be read.
#ifndef ROWLOCK_EXAMPLES_ORIGINS_SHARED_LOCK_SERVICE_FOLIOS_HPP
#define ROWLOCK_EXAMPLES_ORIGINS_SHARED_LOCK_SERVICE_FOLIOS_HPP

#include <SQLiteCpp/SQLiteCpp.h>
#include <soci/soci.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <utility>

#include "origins/support/log.hpp"
#include "rowlock/postgres.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/soci.hpp"
#include "rowlock/sqlite.hpp"

namespace origins {

/// Statements that every database understands.
inline constexpr const char* create_folios =
    "CREATE TABLE folio (id varchar(64) PRIMARY KEY, amount bigint NOT NULL, "
    "version bigint NOT NULL)";
inline constexpr const char* create_persons =
    "CREATE TABLE person (id bigint PRIMARY KEY, name varchar(64) NOT NULL)";

/// What the functions below need of a transaction of one driver: the object that rowlock's
/// functions take, and the SQL of folios and persons.
template <class Transaction>
struct hotel_rows;

template <>
struct hotel_rows<pqxx::work> {
  static pqxx::work& of(pqxx::work& work) { return work; }
  static void insert(pqxx::work& work, const std::string& id, std::int64_t amount) {
    work.exec("INSERT INTO folio VALUES (" + work.quote(id) + ", " + std::to_string(amount) +
              ", 0)");
  }
  static void update(pqxx::work& work, const std::string& id, std::int64_t amount) {
    work.exec("UPDATE folio SET amount = " + std::to_string(amount) +
              " WHERE id = " + work.quote(id));
  }
  static std::string name(pqxx::work& work, std::int64_t id) {
    const auto found = work.exec("SELECT name FROM person WHERE id = " + std::to_string(id));
    return found[0][0].as<std::string>();
  }
};

template <>
struct hotel_rows<rowlock::sqlite_transaction> {
  static SQLite::Database& of(rowlock::sqlite_transaction& work) { return work.database(); }
  static void insert(rowlock::sqlite_transaction& work, const std::string& id,
                     std::int64_t amount) {
    SQLite::Statement insert{work.database(), "INSERT INTO folio VALUES (?, ?, 0)"};
    insert.bind(1, id);
    insert.bind(2, amount);
    insert.exec();
  }
  static void update(rowlock::sqlite_transaction& work, const std::string& id,
                     std::int64_t amount) {
    SQLite::Statement update{work.database(), "UPDATE folio SET amount = ?2 WHERE id = ?1"};
    update.bind(1, id);
    update.bind(2, amount);
    update.exec();
  }
  static std::string name(rowlock::sqlite_transaction& work, std::int64_t id) {
    SQLite::Statement select{work.database(), "SELECT name FROM person WHERE id = ?"};
    select.bind(1, id);
    select.executeStep();
    return select.getColumn(0).getString();
  }
};

template <>
struct hotel_rows<rowlock::soci_transaction> {
  static soci::session& of(rowlock::soci_transaction& work) { return work.session(); }
  static void insert(rowlock::soci_transaction& work, const std::string& id, std::int64_t amount) {
    const auto number = static_cast<long long>(amount);
    work.session() << "INSERT INTO folio VALUES (:id, :amount, 0)", soci::use(id, "id"),
        soci::use(number, "amount");
  }
  static void update(rowlock::soci_transaction& work, const std::string& id, std::int64_t amount) {
    const auto number = static_cast<long long>(amount);
    work.session() << "UPDATE folio SET amount = :amount WHERE id = :id",
        soci::use(number, "amount"), soci::use(id, "id");
  }
  static std::string name(rowlock::soci_transaction& work, std::int64_t id) {
    const auto number = static_cast<long long>(id);
    std::string name;
    work.session() << "SELECT name FROM person WHERE id = :id", soci::use(number, "id"),
        soci::into(name);
    return name;
  }
};

/// The amount of one folio has changed.
struct folio_event {
  std::string folio_id;
  std::int64_t amount = 0;
};

namespace detail {

inline std::string reason_of(const rowlock::retry_event& next) {
  if (!next.thrown) return "has changed";
  try {
    std::rethrow_exception(next.thrown);
  } catch (const std::exception& conflict) {
    return std::string{"met a conflict ("} + conflict.what() + ')';
  }
}

}  // namespace detail

/// Creates the folio or updates it. The version is read first, and checked when the folio is saved.
/// An optimistic failure, or a conflict that the database reports, is tried again five times, after
/// 300, 600, 1,200 ... ms, each with a warning; then the result is stale, or the conflict is
/// thrown. Everything else is thrown at once, such as the insert of a folio that another session
/// inserts.
///
/// `after_find` runs between the find and the save, so that a test can come between them.
template <class Transaction, class Connection>
rowlock::commit_result create_or_update_folio_transaction(
    Connection& connection, const folio_event& event, const log_sink& log,
    const std::shared_ptr<rowlock::time_source>& time = rowlock::system_time(),
    const std::function<void()>& after_find = [] {}) {
  using rows = hotel_rows<Transaction>;
  const rowlock::versioned_table folios{
      .table = "folio", .id_column = "id", .version_column = "version"};
  const rowlock::retry_policy five_retries{.attempts = 6,
                                           .first_pause = std::chrono::milliseconds{300},
                                           .longest_pause = std::chrono::minutes{1},
                                           .jitter = false};
  const auto find = [&] {
    Transaction reading{connection};
    const auto seen = rowlock::read_version(rows::of(reading), folios, event.folio_id);
    return seen.acquired() ? std::optional{*seen} : std::nullopt;
  };
  const auto create_or_update = [&] {
    const auto seen = find();
    after_find();
    Transaction saving{connection};
    if (!seen) {
      rows::insert(saving, event.folio_id, event.amount);
    } else if (rowlock::try_commit(rows::of(saving), folios, event.folio_id, *seen) ==
               rowlock::commit_result::stale) {
      return rowlock::commit_result::stale;  // and rolled back
    } else {
      rows::update(saving, event.folio_id, event.amount);
    }
    saving.commit();
    return rowlock::commit_result::committed;
  };
  const auto warn = [&](const rowlock::retry_event& next) {
    log(log_level::warning, "Folio " + event.folio_id + ' ' + detail::reason_of(next) +
                                ": retry number " + std::to_string(next.attempt - 1));
  };
  return rowlock::retry(five_retries, create_or_update, warn, time);
}

inline constexpr std::chrono::milliseconds person_lock_timeout{1000};

/// Reads a person who stays locked until the caller's transaction ends. Refused if another
/// transaction has the row for longer than the timeout, or if there is none. On SQLite the caller
/// has waited before: a file has one writer, so its transaction begins when the other one ends.
template <class Transaction>
rowlock::outcome<std::string> find_person_locked(Transaction& work, std::int64_t id) {
  using rows = hotel_rows<Transaction>;
  const auto locked = rowlock::lock_entity(rows::of(work), {.table = "person", .id_column = "id"},
                                           id, person_lock_timeout);
  if (!locked.acquired()) return locked.refusal();
  return rows::name(work, id);
}

}  // namespace origins

#endif
