// The behaviour of the shared lock service and of its entities, on each engine.
#include "origins/shared_lock_service/shared_lock_service.hpp"

#include <soci/mysql/soci-mysql.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "origins/shared_lock_service/folios.hpp"
#include "origins/support/origin_test.hpp"
#include "support/mysql_database.hpp"
#include "support/postgres_schema.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_folder.hpp"

namespace origins {
namespace {

class SharedLockService : public origin_test {
 protected:
  shared_lock_service service(std::function<void()> after_find = [] {}) {
    return {locks_,
            {.tenant = "hotel-1"},
            [this](log_level, const std::string& text) { log_.push_back(text); },
            std::move(after_find)};
  }
  std::optional<int> acquire(shared_lock_service by) {
    return by.acquire_lock("42", "R-7", "INVOICE", [&] {
      ++calls_;
      return 4711;
    });
  }
  [[nodiscard]] bool has_logged(const std::string& text) const {
    return std::any_of(log_.begin(), log_.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  }

  const rowlock::lock_key row_{"INVOICE", "42"};
  /// Waits a moment only for other writers of a file.
  const std::shared_ptr<rowlock::store> impatient_ = bench_->open(20ms);
  rowlock::lock_table locks_{*impatient_, {.ttl = 1h, .time = clock_}};
  std::vector<std::string> log_;
  int calls_ = 0;
};

TEST_P(SharedLockService, InsertsTheRowRunsTheCallbackAndUnsetsTheRow) {
  ASSERT_FALSE(row(row_));
  const auto done = service().acquire_lock("42", "R-7", "INVOICE", [&] {
    EXPECT_TRUE(is_held(row_));
    return std::string{"sent"};
  });
  EXPECT_EQ(done, "sent");
  ASSERT_TRUE(row(row_));
  EXPECT_FALSE(row(row_)->owned);
  EXPECT_EQ(row(row_)->failure_count, 0);
  EXPECT_EQ(row(row_)->expiry_count, 0);
}

TEST_P(SharedLockService, FindsTheRowThatIsThere) {
  ASSERT_TRUE(acquire(service()));
  const auto before = row(row_)->version;
  EXPECT_EQ(acquire(service()), 4711);
  EXPECT_GT(row(row_)->version, before);
}

TEST_P(SharedLockService, IsNotAcquiredWhenTheRowIsHeld) {
  const auto done = service().acquire_lock("42", "R-7", "INVOICE", [&] {
    EXPECT_EQ(acquire(service()), std::nullopt);
    return 1;
  });
  EXPECT_EQ(done, 1);
  EXPECT_EQ(calls_, 0);
}

TEST_P(SharedLockService, IsNotAcquiredWhenTheVersionHasMovedSinceTheFind) {
  ASSERT_TRUE(acquire(service()));
  const auto move = [&] {
    const auto rival = bench_->connect();
    const auto work = *rival->begin();
    const auto seen = *work->read_version(row_);
    EXPECT_EQ(work->try_commit(row_, seen), rowlock::commit_result::committed);
    work->commit();
  };
  EXPECT_EQ(acquire(service(move)), std::nullopt);
  EXPECT_EQ(calls_, 1);
  EXPECT_TRUE(has_logged("has changed meanwhile"));
}

TEST_P(SharedLockService, IsNotAcquiredWhenAnotherHolderWasFasterAfterTheFind) {
  rowlock::lock_table theirs{*impatient_, {.ttl = 1h, .time = clock_}};
  std::optional<rowlock::lease> held;
  EXPECT_EQ(acquire(service([&] { held.emplace(*theirs.try_acquire(row_)); })), std::nullopt);
  EXPECT_EQ(calls_, 0);
}

TEST_P(SharedLockService, IsNotAcquiredWhenAnotherTransactionInsertsTheRow) {
  const auto rival = bench_->connect();
  {
    const auto inserting = *rival->begin();
    ASSERT_TRUE(inserting->lock_rows(row_, rowlock::no_wait()).acquired());
    EXPECT_EQ(acquire(service()), std::nullopt);
    inserting->commit();
  }
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(acquire(service()), 4711);
}

TEST_P(SharedLockService, SwallowsNothingElse) {
  rowlock::lock_table failing{faulty_, {.ttl = 1h, .time = clock_}};
  shared_lock_service by{failing, {.tenant = "hotel-1"}, [](log_level, const std::string&) {}};
  faulty_.next_is_unavailable(rowlock::faulty_store::call::acquire);
  EXPECT_THROW((void)acquire(by), rowlock::error);
  EXPECT_THROW((void)by.acquire_lock("", "R-7", "INVOICE", [] { return 1; }), rowlock::error);
  EXPECT_EQ(calls_, 0);
}

TEST_P(SharedLockService, LogsTheReportableIdAndTheTenantBeforeTheRowIsUnset) {
  bool was_held = false;
  shared_lock_service by{locks_, {.tenant = "hotel-1"}, [&](log_level, const std::string& text) {
                           log_.push_back(text);
                           was_held = is_held(row_);
                         }};
  ASSERT_TRUE(acquire(by));
  EXPECT_EQ(log_, std::vector<std::string>{"[hotel-1] Remove lock for R-7, sourceId 42"});
  EXPECT_TRUE(was_held);
}

TEST_P(SharedLockService, HandsTheReportableIdToTheObserver) {
  const auto seen = std::make_shared<rowlock::tests::recording_observer>();
  {
    rowlock::lock_table observed{*impatient_, {.ttl = 1h, .time = clock_, .observer = seen}};
    ASSERT_TRUE(acquire({observed, {.tenant = "hotel-1"}, [](log_level, const std::string&) {}}));
  }  // The rest of the events is reported here.
  EXPECT_EQ(seen->await<rowlock::acquired_event>().correlation_id, "R-7");
  EXPECT_EQ(seen->await<rowlock::released_event>().correlation_id, "R-7");
}

TEST_P(SharedLockService, HandsTheResultOnWhenItsLogFails) {
  shared_lock_service by{locks_, {.tenant = "hotel-1"}, [](log_level, const std::string&) {
                           throw std::domain_error{"the disk is full"};
                         }};
  EXPECT_EQ(acquire(by), 4711);
  EXPECT_FALSE(row(row_)->owned);
}

// What the original could not promise.

TEST_P(SharedLockService, UnsetsNoRowOfASuccessorAndSaysSo) {
  rowlock::lock_table theirs{*impatient_, {.ttl = 1h, .time = clock_}};
  std::optional<rowlock::lease> successor;
  const auto done = service().acquire_lock("42", "R-7", "INVOICE", [&] {
    bench_->run_out(row_);
    successor.emplace(*theirs.try_acquire(row_));
    return 4711;
  });
  EXPECT_EQ(done, 4711);
  EXPECT_TRUE(is_held(row_));
  EXPECT_EQ(row(row_)->version, successor->token());
  EXPECT_TRUE(has_logged("[hotel-1] Did not keep the lock for R-7 to its end"));
}

TEST_P(SharedLockService, ProvesTheLockToATransactionOfTheCallback) {
  const auto connection = bench_->connect();
  const auto book = [&](const rowlock::lease& held) {
    const auto books = *connection->begin();
    books->write_note("booked");
    books->fence(held);
    books->commit();
    return true;
  };
  EXPECT_EQ(service().acquire_lock("42", "R-7", "INVOICE", book), true);
  EXPECT_EQ(connection->notes(), std::vector<std::string>{"booked"});

  rowlock::lock_table theirs{*impatient_, {.ttl = 1h, .time = clock_}};
  std::optional<rowlock::lease> successor;
  const auto book_late = [&](const rowlock::lease& held) {
    bench_->run_out(row_);
    successor.emplace(*theirs.try_acquire(row_));
    return book(held);
  };
  EXPECT_THROW((void)service().acquire_lock("42", "R-7", "INVOICE", book_late),
               rowlock::lease_lost);
  EXPECT_EQ(connection->notes().size(), 1U);
}

TEST_P(SharedLockService, ReadsTheClockOfTheDatabase) {
  const auto ahead = std::make_shared<rowlock::manual_time>();
  ahead->advance(48h);
  rowlock::lock_table hasty{*impatient_, {.ttl = 1h, .time = ahead}};
  shared_lock_service early{hasty, {.tenant = "hotel-2"}, [](log_level, const std::string&) {}};
  const auto done = service().acquire_lock("42", "R-7", "INVOICE", [&] {
    EXPECT_EQ(acquire(early), std::nullopt);
    return 1;
  });
  EXPECT_EQ(done, 1);
  EXPECT_EQ(calls_, 0);
}

TEST_P(SharedLockService, UnsetsTheRowWhenTheCallbackFails) {
  EXPECT_THROW((void)service().acquire_lock("42", "R-7", "INVOICE",
                                            []() -> int { throw std::domain_error{"failed"}; }),
               std::domain_error);
  EXPECT_FALSE(row(row_)->owned);
  EXPECT_EQ(row(row_)->failure_count, 1);
  EXPECT_EQ(acquire(service()), 4711);
  EXPECT_EQ(row(row_)->failure_count, 1);
  EXPECT_TRUE(has_logged("Remove lock for R-7, sourceId 42"));
}

TEST_P(SharedLockService, TakesOverTheRowOfAHolderThatDied) {
  rowlock::lock_table dying{*impatient_, {.ttl = 1h, .renew = false, .time = clock_}};
  const auto left = dying.try_acquire(row_);
  EXPECT_EQ(acquire(service()), std::nullopt);
  bench_->run_out(row_);
  EXPECT_EQ(acquire(service()), 4711);
  EXPECT_EQ(row(row_)->expiry_count, 1);
}

INSTANTIATE_TEST_SUITE_P(Engines, SharedLockService, testing::ValuesIn(engines()), name_of);

// The entities: through libpqxx, SQLiteCpp and SOCI.

struct postgres_hotel {
  static constexpr const char* name = "postgres";
  using transaction = pqxx::work;

  [[nodiscard]] std::unique_ptr<pqxx::connection> connect() const {
    auto connection = std::make_unique<pqxx::connection>(rowlock::tests::postgres_url());
    pqxx::nontransaction{*connection}.exec("SET search_path TO " + schema.name());
    return connection;
  }
  static void execute(pqxx::connection& connection, const std::string& sql) {
    pqxx::nontransaction{connection}.exec(sql);
  }
  /// Throws a conflict of the database.
  void collide() const {
    execute(*connect(), "DO $$ BEGIN RAISE 'two writers' USING ERRCODE = '40001'; END $$");
  }
  static long long number(pqxx::connection& connection, const std::string& sql) {
    return pqxx::nontransaction{connection}.exec(sql)[0][0].as<long long>();
  }

  rowlock::tests::postgres_schema schema;
};

struct sqlite_hotel {
  static constexpr const char* name = "sqlite";
  using transaction = rowlock::sqlite_transaction;

  [[nodiscard]] std::unique_ptr<SQLite::Database> connect() const {
    return std::make_unique<SQLite::Database>((folder.path() / "hotel.db").string(),
                                              SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  }
  static void execute(SQLite::Database& connection, const std::string& sql) {
    connection.exec(sql);
  }
  /// Throws a conflict of the database.
  void collide() const {
    const auto first = connect();
    const auto second = connect();
    first->exec("BEGIN IMMEDIATE");
    second->exec("BEGIN IMMEDIATE");
  }
  static long long number(SQLite::Database& connection, const std::string& sql) {
    return connection.execAndGet(sql).getInt64();
  }

  rowlock::tests::temp_folder folder;
};

struct mariadb_hotel {
  static constexpr const char* name = "mariadb";
  using transaction = rowlock::soci_transaction;

  [[nodiscard]] std::unique_ptr<soci::session> connect() const {
    return std::make_unique<soci::session>(database.target());
  }
  static void execute(soci::session& connection, const std::string& sql) { connection << sql; }
  /// Throws a conflict of the database.
  void collide() const {
    execute(*connect(),
            "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'two writers'");
  }
  static long long number(soci::session& connection, const std::string& sql) {
    long long value = 0;
    connection << sql, soci::into(value);
    return value;
  }

  rowlock::tests::mysql_database database;
};

template <class Hotel>
class SharedLockEntities : public testing::Test {
 protected:
  using transaction = typename Hotel::transaction;

  SharedLockEntities() {
    for (const auto* sql :
         {create_folios, create_persons, "INSERT INTO person VALUES (7, 'Ann')"}) {
      Hotel::execute(*connection_, sql);
    }
  }

  rowlock::commit_result post(
      std::int64_t amount, const std::function<void()>& after_find = [] {}) {
    return create_or_update_folio_transaction<transaction>(
        *connection_, {.folio_id = "F-1", .amount = amount},
        [this](log_level level, const std::string& text) {
          if (level == log_level::warning) warnings_.push_back(text);
        },
        virtual_, after_find);
  }
  /// Another session saves the folio.
  void save_as_rival() {
    Hotel::execute(*rival_, "UPDATE folio SET amount = 1, version = version + 1");
  }
  /// Whether another session cannot have the person without waiting.
  bool is_locked_for_rival() {
    try {
      transaction theirs{*rival_};
      const auto locked =
          rowlock::lock_entity(hotel_rows<transaction>::of(theirs),
                               {.table = "person", .id_column = "id"}, 7, rowlock::no_wait());
      return !locked.acquired();
    } catch (const rowlock::error&) {
      return true;  // A file has one writer: the transaction does not begin.
    }
  }
  long long number(const std::string& sql) { return Hotel::number(*connection_, sql); }

  const Hotel hotel_;
  const decltype(hotel_.connect()) connection_ = hotel_.connect();
  const decltype(hotel_.connect()) rival_ = hotel_.connect();
  const std::shared_ptr<virtual_time> virtual_ =
      std::make_shared<virtual_time>(std::make_shared<rowlock::manual_time>());
  std::vector<std::string> warnings_;
};

struct hotel_names {
  template <class Hotel>
  static std::string GetName(int /*place*/) {
    return Hotel::name;
  }
};
using hotels = testing::Types<postgres_hotel, sqlite_hotel, mariadb_hotel>;
TYPED_TEST_SUITE(SharedLockEntities, hotels, hotel_names);

using pauses = std::vector<std::chrono::milliseconds>;

TYPED_TEST(SharedLockEntities, CreateAFolioAndUpdateIt) {
  EXPECT_EQ(this->post(100), rowlock::commit_result::committed);
  EXPECT_EQ(this->number("SELECT amount FROM folio"), 100);
  EXPECT_EQ(this->post(250), rowlock::commit_result::committed);
  EXPECT_EQ(this->number("SELECT amount FROM folio"), 250);
  EXPECT_EQ(this->number("SELECT version FROM folio"), 1);
  EXPECT_TRUE(this->warnings_.empty());
}

TYPED_TEST(SharedLockEntities, RetryAFolioThatChangedWithAWarningBeforeEach) {
  ASSERT_EQ(this->post(100), rowlock::commit_result::committed);
  int finds = 0;
  EXPECT_EQ(this->post(250,
                       [&] {
                         if (++finds <= 2) this->save_as_rival();
                       }),
            rowlock::commit_result::committed);
  EXPECT_EQ(finds, 3);
  EXPECT_EQ(this->number("SELECT amount FROM folio"), 250);
  EXPECT_EQ(this->warnings_, (std::vector<std::string>{"Folio F-1 has changed: retry number 1",
                                                       "Folio F-1 has changed: retry number 2"}));
  EXPECT_EQ(this->virtual_->pauses(), (pauses{300ms, 600ms}));
}

TYPED_TEST(SharedLockEntities, RetryFiveTimesFrom300Ms) {
  ASSERT_EQ(this->post(100), rowlock::commit_result::committed);
  EXPECT_EQ(this->post(250, [&] { this->save_as_rival(); }), rowlock::commit_result::stale);
  EXPECT_EQ(this->number("SELECT amount FROM folio"), 1);
  EXPECT_EQ(this->warnings_.size(), 5U);
  EXPECT_EQ(this->virtual_->pauses(), (pauses{300ms, 600ms, 1200ms, 2400ms, 4800ms}));
}

TYPED_TEST(SharedLockEntities, RetryAConflictThatTheDatabaseReportsAndNameIt) {
  int finds = 0;
  std::string reported;
  const auto collide_once = [&] {
    if (++finds > 1) return;
    try {
      this->hotel_.collide();
    } catch (const std::exception& conflict) {
      reported = conflict.what();
      throw;
    }
  };
  EXPECT_EQ(this->post(250, collide_once), rowlock::commit_result::committed);
  EXPECT_EQ(finds, 2);
  EXPECT_EQ(this->number("SELECT amount FROM folio"), 250);
  EXPECT_NE(reported, "");
  EXPECT_EQ(this->warnings_, std::vector<std::string>{"Folio F-1 met a conflict (" + reported +
                                                      "): retry number 1"});
  EXPECT_EQ(this->virtual_->pauses(), pauses{300ms});
}

TYPED_TEST(SharedLockEntities, RetryNothingButOptimisticFailures) {
  EXPECT_THROW(
      (void)this->post(
          100,
          [&] { TypeParam::execute(*this->rival_, "INSERT INTO folio VALUES ('F-1', 1, 0)"); }),
      std::exception);
  EXPECT_TRUE(this->warnings_.empty());
}

TYPED_TEST(SharedLockEntities, ReadAPersonThatStaysLocked) {
  typename TypeParam::transaction work{*this->connection_};
  const auto person = find_person_locked(work, 7);
  ASSERT_TRUE(person.acquired());
  EXPECT_EQ(*person, "Ann");
  EXPECT_TRUE(this->is_locked_for_rival());
  work.commit();
  EXPECT_FALSE(this->is_locked_for_rival());
}

TYPED_TEST(SharedLockEntities, RefuseAPersonThatIsNotThere) {
  typename TypeParam::transaction work{*this->connection_};
  EXPECT_EQ(find_person_locked(work, 8).refusal().reason, rowlock::refusal_reason::missing);
}

static_assert(person_lock_timeout == 1000ms);

TYPED_TEST(SharedLockEntities, RefuseAPersonThatAnotherTransactionHasForASecond) {
  typename TypeParam::transaction holding{*this->rival_};
  ASSERT_TRUE(find_person_locked(holding, 7).acquired());
  if constexpr (std::is_same_v<TypeParam, sqlite_hotel>) {
    // A file has one writer: the second transaction does not even begin.
    EXPECT_THROW((rowlock::sqlite_transaction{*this->connection_, 20ms}), rowlock::error);
  } else {
    typename TypeParam::transaction work{*this->connection_};
    EXPECT_EQ(find_person_locked(work, 7).refusal().reason, rowlock::refusal_reason::timed_out);
    holding.abort();
    EXPECT_TRUE(find_person_locked(work, 7).acquired());
  }
}

}  // namespace
}  // namespace origins
