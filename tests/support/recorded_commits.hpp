// How the changes of a lock table were committed.
#ifndef ROWLOCK_TESTS_SUPPORT_RECORDED_COMMITS_HPP
#define ROWLOCK_TESTS_SUPPORT_RECORDED_COMMITS_HPP

#include <string>
#include <vector>

#include "postgres/postgres_table.hpp"

namespace rowlock::tests {

/// From its beginning on, `synchronous_commit` is recorded at the commit of every row that is
/// written: by a deferred trigger, the last that a transaction does before.
class recorded_commits {
 public:
  recorded_commits(observer& server, const std::string& table)
      : server_{server}, log_{table + "_commits"} {
    server_.query(
        "create table " + log_ + " (number serial, setting text);" + "create function " + log_ +
        "_record() returns trigger language plpgsql as $$ begin insert into " + log_ +
        " (setting) values (current_setting('synchronous_commit'));" + " return null; end $$;" +
        "create constraint trigger record after insert or update on " + table +
        " deferrable initially deferred for each row execute function " + log_ + "_record()");
  }

  /// Those since the last call, in their order.
  std::vector<std::string> take() {
    std::vector<std::string> settings;
    for (const auto& row : server_.query("select setting from " + log_ + " order by number")) {
      settings.push_back(row[0].as<std::string>());
    }
    server_.query("delete from " + log_);
    return settings;
  }

 private:
  observer& server_;
  std::string log_;
};

}  // namespace rowlock::tests

#endif
