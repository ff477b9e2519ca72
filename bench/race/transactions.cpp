// A transaction of the application that writes one row, alone and with the proof that a lock is
// held. None of these waits, and `take` does all of it.
#include <memory>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>

#include "race/connections.hpp"
#include "race/postgres.hpp"
#include "race/protocol.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"
#include "rowlock/row_lock.hpp"

namespace rowlock::race {

namespace {

void build(const place& where) {
  build_lock_table(where);
  execute(where, "CREATE TABLE account (id text PRIMARY KEY, balance bigint NOT NULL)");
  execute(where, "INSERT INTO account SELECT i::text, 0 FROM generate_series(0, " +
                     std::to_string(where.keys) + " - 1) i");
}

/// The work: one row of the application's.
void book(pqxx::transaction_base& work, const lock_key& key) {
  const auto booked =
      work.exec_params("UPDATE account SET balance = balance + 1 WHERE id = $1", key.source_id);
  if (booked.affected_rows() != 1) throw std::runtime_error{"no account"};
}

class transaction_contender : public polling_contender {
 public:
  explicit transaction_contender(const place& where)
      : connection_{connect(where)}, table_{lock_table_in(where)} {}
  void give_back() override {}

 protected:
  std::unique_ptr<pqxx::connection> connection_;
  postgres_table table_;
};

/// Begin, the work, commit.
class plain_contender final : public transaction_contender {
 public:
  using transaction_contender::transaction_contender;

  bool take(const lock_key& key) override {
    pqxx::work work{*connection_};
    book(work, key);
    work.commit();
    return true;
  }
};

/// The same with the row of the key locked.
class row_lock_contender final : public transaction_contender {
 public:
  using transaction_contender::transaction_contender;

  bool take(const lock_key& key) override {
    return with_row_lock<pqxx::work>(
               *connection_, lock_keys{key}, no_wait(), [&](pqxx::work& work) { book(work, key); },
               table_)
        .acquired();
  }
};

struct shared_locks {
  explicit shared_locks(const place& on)
      : where{on}, rows{store_in(on)}, locks{*rows, {.ttl = ttl}} {}
  place where;
  std::unique_ptr<store> rows;
  lock_table locks;
};

/// The same with the fence of a lease that is held all the time.
class fenced_contender final : public transaction_contender {
 public:
  explicit fenced_contender(shared_locks& shared)
      : transaction_contender{shared.where}, locks_{shared.locks} {}

  bool take(const lock_key& key) override {
    if (!held_) held_.emplace(*locks_.try_acquire(key));
    run_fenced<pqxx::work>(
        *connection_, *held_, [&](pqxx::work& work) { book(work, key); }, {}, table_);
    return true;
  }

 private:
  lock_table& locks_;
  std::optional<lease> held_;
};

}  // namespace

std::vector<protocol> transactions() {
  const auto doing = [](std::string name, std::function<contender_factory(const place&)> open) {
    return protocol{.name = std::move(name),
                    .runs_on = engine::postgres,
                    .build = build,
                    .open = std::move(open)};
  };
  const auto opening = []<class Contender>(const place& where) -> contender_factory {
    return [where] { return std::make_unique<Contender>(where); };
  };
  return {
      doing("plain_transaction",
            [=](const place& where) { return opening.operator()<plain_contender>(where); }),
      doing("rowlock_row_lock",
            [=](const place& where) { return opening.operator()<row_lock_contender>(where); }),
      doing("rowlock_fenced", contenders_sharing<fenced_contender, shared_locks>),
  };
}

}  // namespace rowlock::race
