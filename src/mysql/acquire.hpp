// Acquiring rows on MariaDB or MySQL: the modes of `store::acquire`.
#ifndef ROWLOCK_MYSQL_ACQUIRE_HPP
#define ROWLOCK_MYSQL_ACQUIRE_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "mysql/executor.hpp"

namespace rowlock::mysql {

/// One call of acquire, with its answers so far.
class acquire_call {
 public:
  using renew_call = std::function<std::vector<change_answer>(std::span<const renew_request>)>;

  acquire_call(executor& exec, std::span<const acquire_request> requests,
               std::chrono::microseconds skew, renew_call renew)
      : exec_{exec},
        requests_{requests},
        skew_{skew},
        renew_{std::move(renew)},
        answers_(requests.size()) {}

  std::vector<acquire_answer> run() &&;
  /// Two round trips for a set that is granted, whether or not its rows exist. One for a set that
  /// is refused at the first read, four if another transaction was in the way after that read.
  /// (MySQL: five, one and six.)
  std::vector<acquire_answer> run_for_all() &&;
  /// Five round trips, or one if no row is free; two more for missing rows.
  std::vector<acquire_answer> run_for_any(std::size_t at_most) &&;

 private:
  using places = std::vector<std::size_t>;

  [[nodiscard]] places everything() const;
  bool take_if_unowned();
  /// Sends the statement that grants an unowned row.
  std::optional<result_set> write_if_unowned(const acquire_request& request);
  /// Fills in the answers that a read can give.
  void read_rows(const places& open, bool unowned_are_busy);
  /// The answer to a request that was granted its row at version `now`.
  acquire_answer granted(std::size_t place, version now) const;
  void take();
  void take_some(std::size_t at_most);
  /// The version that was read; zero for a missing row.
  [[nodiscard]] std::int64_t seen_version(std::size_t place) const;
  [[nodiscard]] json_rows at_versions(const places& chosen) const;
  /// The parameters of a grant of the row as it was read.
  [[nodiscard]] json_rows::row grant_of(std::size_t place) const;
  [[nodiscard]] json_rows grants_of(const places& chosen) const;
  void insert();
  bool insert_one(std::size_t place);
  /// Sets the answer after a statement has written the row and returned `insert_id`.
  void grant(std::size_t place, std::uint64_t insert_id);
  void adopt();
  bool grant_all();
  /// Sets the answer after a grant of several rows at `now`, by the database's clock.
  void set_granted(std::size_t place, std::uint64_t now);
  /// The same by a read: some may not be granted, or a trigger has hidden the time.
  void set_granted_as_read(const places& written);
  void find_refusals();
  void withhold(const places& chosen);
  void withhold_what_is_not_granted();
  [[nodiscard]] key_list keys_of(const places& chosen) const;

  executor& exec_;
  std::span<const acquire_request> requests_;
  std::chrono::microseconds skew_;
  renew_call renew_;
  std::vector<acquire_answer> answers_;        // busy, until more is known
  places missing_;                             // to be inserted
  places mine_;                                // granted by an earlier call
  places takeable_;                            // unowned, or expired
  std::vector<std::optional<seen_row>> seen_;  // by place
};

}  // namespace rowlock::mysql

#endif
