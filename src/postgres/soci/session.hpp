// The port's calls on a session of a store, on PostgreSQL.
#ifndef ROWLOCK_POSTGRES_SOCI_SESSION_HPP
#define ROWLOCK_POSTGRES_SOCI_SESSION_HPP

#include "postgres/soci/connection.hpp"
#include "postgres/sql/statements.hpp"
#include "rowlock/table_name.hpp"
#include "soci/backend.hpp"

namespace rowlock::through_soci {

class postgres_leases final : public lease_session {
 public:
  /// Pins the session. Throws `error`.
  postgres_leases(::soci::session& session, const soci_options& options);

  std::vector<acquire_answer> acquire(std::span<const acquire_request> requests) override;
  std::vector<acquire_answer> acquire_all(std::span<const acquire_request> requests) override;
  std::vector<acquire_answer> acquire_any(std::span<const acquire_request> requests,
                                          std::size_t at_most) override;
  std::vector<change_answer> renew(std::span<const renew_request> requests) override;
  std::vector<change_answer> release(std::span<const release_request> requests) override;
  handoff_answer handoff(const handoff_request& request) override;
  change_answer write_note(const note_request& request) override;
  std::vector<std::optional<row_state>> read(std::span<const lock_key> keys) override;
  std::vector<std::optional<row_state>> prepare(std::span<const lock_key> keys) override;
  std::vector<row_state> list() override;
  std::optional<std::string> used_by(const lock_key& key) override;
  force_answer force_release(const force_request& request) override;
  purge_answer purge(const purge_request& request) override;
  std::vector<std::string> weak_settings() override;
  void check_table() override;
  [[nodiscard]] bool is_usable() const noexcept override { return is_usable_ && line_.is_idle(); }
  [[nodiscard]] bool is_alive() const noexcept override { return line_.is_alive(); }

 private:
  /// `work` on a call; what it throws is told as an `error`.
  template <class Work>
  auto call(const Work& work);

  postgres_line line_;
  table_name table_;
  const sql::postgres_statements& statements_;
  bool is_usable_ = true;
};

}  // namespace rowlock::through_soci

#endif
