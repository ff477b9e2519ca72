// One call of acquire on MariaDB or MySQL.
#ifndef ROWLOCK_SOCI_MYSQL_ACQUIRING_HPP
#define ROWLOCK_SOCI_MYSQL_ACQUIRING_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "soci/mysql_calls.hpp"

namespace rowlock::through_soci {

/// The answers to one call of acquire, as they come in.
class mysql_acquiring {
 public:
  using renew_call = std::function<std::vector<renew_answer>(std::span<const renew_request>)>;

  mysql_acquiring(mysql_calls& calls, std::span<const acquire_request> requests,
                  std::chrono::microseconds skew, renew_call renew)
      : calls_{calls},
        requests_{requests},
        skew_{skew},
        renew_{std::move(renew)},
        answers_(requests.size()) {}

  std::vector<acquire_answer> run() &&;

 private:
  using places = std::vector<std::size_t>;

  bool take_if_unowned();
  /// Fills in what a look can answer.
  void look_at(const places& open, bool unowned_are_busy);
  acquire_answer refused(const acquire_request& request, const found_row& seen) const;
  void take();
  void insert();
  bool insert_one(std::size_t place);
  /// By a statement that wrote the row, and answered with this.
  void grant(std::size_t place, std::uint64_t insert_id);
  void adopt();
  [[nodiscard]] key_list keys_of(const places& chosen) const;

  mysql_calls& calls_;
  std::span<const acquire_request> requests_;
  std::chrono::microseconds skew_;
  renew_call renew_;
  std::vector<acquire_answer> answers_;         // busy, until more is known
  places missing_;                              // to be inserted
  places mine_;                                 // granted by an earlier call
  places takeable_;                             // unowned, or run out
  std::vector<std::optional<found_row>> seen_;  // by place
};

}  // namespace rowlock::through_soci

#endif
