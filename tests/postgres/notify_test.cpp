// Notifications that cannot be sent: the server's queue is full, for instance.
#include <array>
#include <string>
#include <vector>

#include "postgres/postgres_table.hpp"

namespace rowlock::tests {
namespace {

/// All rows are watched, and a commit with a notification fails as with a full queue. (A store
/// whose search_path has a pg_notify of its own; a deferred trigger raises the error at the
/// commit.)
class PostgresNotify : public postgres_table {
 protected:
  PostgresNotify() {
    const auto& own = schema();
    server_.query("create table " + own + ".sent (channel text)");
    server_.query("create function " + own +
                  ".fill() returns trigger language plpgsql as $$ begin raise 'too many "
                  "notifications in the NOTIFY queue' using errcode = '54000'; end $$");
    server_.query("create constraint trigger fill after insert on " + own +
                  ".sent deferrable initially deferred for each row execute function " + own +
                  ".fill()");
    server_.query("create function " + own +
                  ".pg_notify(channel text, payload text) returns void language sql as 'insert "
                  "into " +
                  own + ".sent values ($1)'");
    open_store().read(keys_, read_mode::ready_to_commit);
    watch();
  }

  void watch() {
    server_.query("update " + name() +
                  " set waiting_until = clock_timestamp() + interval '1 hour'");
  }
  std::vector<acquire_answer> acquire_both() {
    return rows_.acquire(std::array{request(key_), request(other_key_)});
  }
  std::vector<release_request> releases(const std::vector<acquire_answer>& granted) {
    std::vector<release_request> requests;
    for (std::size_t i = 0; i < granted.size(); ++i) {
      requests.push_back({keys_[i], mine_, granted[i].version.value()});
    }
    return requests;
  }

  const std::vector<lock_key> keys_{key_, other_key_};
  postgres_store rows_ =
      open_store(url_with("options=-csearch_path%3D" + schema() + ",pg_catalog"));
};

TEST_F(PostgresNotify, ThatFailsFailsNoGrantAndNoRelease) {
  const auto granted = acquire(rows_, key_);
  ASSERT_EQ(granted.status, acquire_status::granted);
  EXPECT_EQ(release(rows_, key_, *granted.version), change_answer::done);
  for (int i = 0; i < 8; ++i) {  // until the type is expected to be free
    const auto again = acquire(rows_, key_);
    ASSERT_EQ(again.status, acquire_status::granted);
    EXPECT_EQ(release(rows_, key_, *again.version), change_answer::done);
  }
}

TEST_F(PostgresNotify, ThatFailsFailsNoReleaseThatMarksTheRow) {
  auto marked = releases({acquire(rows_, key_)}).front();
  marked.failed = true;
  EXPECT_EQ(rows_.release(std::array{marked}).front(), change_answer::done);
}

TEST_F(PostgresNotify, ThatFailsFailsNeitherGrantsNorReleasesOfSeveralKeys) {
  const auto granted = acquire_both();
  for (const auto& answer : granted) ASSERT_EQ(answer.status, acquire_status::granted);
  for (const auto done : rows_.release(releases(granted))) EXPECT_EQ(done, change_answer::done);
}

TEST_F(PostgresNotify, ThatFailsFailsNoForcedRelease) {
  const auto granted = acquire(rows_, key_);
  EXPECT_EQ(rows_.force_release({key_, *granted.version, "why"}), force_answer::released);
}

}  // namespace
}  // namespace rowlock::tests
