// What a statement answered, whatever driver brought it.
#ifndef ROWLOCK_DIALECTS_POSTGRES_ANSWER_HPP
#define ROWLOCK_DIALECTS_POSTGRES_ANSWER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowlock::postgres {

/// Rows of texts as PostgreSQL spells them, and how many rows were changed.
class answer {
 public:
  /// One row; not longer than its answer. Its members throw `error` (rejected) for a column that is
  /// not there and for a text that is not of the type asked for.
  class row {
   public:
    row(const answer& of, std::size_t index) : of_{of}, index_{index} {}

    [[nodiscard]] bool is_null(std::string_view column) const { return !cell(column); }
    /// Empty for null.
    [[nodiscard]] std::string text(std::string_view column) const;
    [[nodiscard]] std::int64_t number(std::string_view column) const;
    [[nodiscard]] bool flag(std::string_view column) const;
    /// Which of the requests, from 0, the row answers.
    [[nodiscard]] std::size_t place() const;

   private:
    [[nodiscard]] const std::optional<std::string>& cell(std::string_view column) const;

    const answer& of_;
    std::size_t index_;
  };

  class iterator {
   public:
    iterator(const answer& of, std::size_t index) : of_{&of}, index_{index} {}

    row operator*() const { return {*of_, index_}; }
    iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const iterator&) const = default;

   private:
    const answer* of_;
    std::size_t index_;
  };

  answer(std::vector<std::string> columns, std::size_t affected_rows)
      : columns_{std::move(columns)}, affected_rows_{affected_rows} {}

  /// Cell by cell, row by row; none is null.
  void add(std::optional<std::string> cell) { cells_.push_back(std::move(cell)); }

  [[nodiscard]] std::size_t size() const noexcept {
    return columns_.empty() ? 0 : cells_.size() / columns_.size();
  }
  [[nodiscard]] bool empty() const noexcept { return cells_.empty(); }
  [[nodiscard]] std::size_t affected_rows() const noexcept { return affected_rows_; }

  [[nodiscard]] iterator begin() const { return {*this, 0}; }
  [[nodiscard]] iterator end() const { return {*this, size()}; }
  /// Throws `error` (rejected) when there is none.
  [[nodiscard]] row front() const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::optional<std::string>> cells_;
  std::size_t affected_rows_;
};

}  // namespace rowlock::postgres

#endif
