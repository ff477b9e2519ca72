// What the workers report, in memory that outlives a killed one.
#include "faults/score_sheet.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace rowlock::tests {

namespace {

int or_throw(int result, const char* what) {
  if (result == -1) throw std::system_error{errno, std::generic_category(), what};
  return result;
}

std::int64_t number_of(boot_clock::time_point time) { return time.time_since_epoch().count(); }

boot_clock::time_point time_of(std::int64_t number) {
  return boot_clock::time_point{boot_clock::duration{number}};
}

/// One round makes far fewer.
constexpr std::size_t most_beliefs = 400'000;

}  // namespace

struct score_sheet::layout {
  struct belief_record {
    std::atomic<int> key;
    std::atomic<possession_kind> kind;
    std::atomic<bool> acknowledged;
    std::atomic<std::int64_t> version;
    std::atomic<std::int64_t> begin;
    std::atomic<std::int64_t> end;
  };

  rowlock::tests::score score;
  std::atomic<bool> is_stopped;
  std::array<std::array<std::atomic<phase>, threads_per_slot>, slots> phases;
  std::atomic<std::size_t> used;
  std::array<belief_record, most_beliefs> beliefs;
};

static_assert(std::atomic<std::int64_t>::is_always_lock_free &&
              std::atomic<std::size_t>::is_always_lock_free);

score_sheet::score_sheet(int file) : page_{nullptr} {
  void* const memory = mmap(nullptr, sizeof(layout), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) throw std::system_error{errno, std::generic_category(), "mmap"};
  // Its bytes are zero at first, and that is how all of it begins.
  page_ = static_cast<layout*>(memory);
}

score_sheet::score_sheet(score_sheet&& other) noexcept
    : page_{std::exchange(other.page_, nullptr)} {}

score_sheet::~score_sheet() {
  if (page_ != nullptr) munmap(page_, sizeof(layout));
}

score_sheet score_sheet::create(const std::filesystem::path& file) {
  const int opened = or_throw(
      ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR), "open");
  or_throw(ftruncate(opened, sizeof(layout)), "ftruncate");
  return score_sheet{opened};
}

score_sheet score_sheet::open(const std::filesystem::path& file) {
  return score_sheet{or_throw(::open(file.c_str(), O_RDWR | O_CLOEXEC), "open")};
}

score& score_sheet::score() noexcept { return page_->score; }

void score_sheet::stop() noexcept { page_->is_stopped = true; }

bool score_sheet::is_stopped() const noexcept { return page_->is_stopped; }

std::atomic<phase>& score_sheet::phase_of(std::size_t slot, std::size_t thread) noexcept {
  return page_->phases[slot][thread];
}

bool score_sheet::is_in(std::size_t slot, phase wanted) noexcept {
  return std::ranges::any_of(page_->phases[slot],
                             [wanted](const auto& each) { return each == wanted; });
}

void score_sheet::belief::believe(boot_clock::time_point until) noexcept {
  if (end_ != nullptr) *end_ = number_of(until);
}

void score_sheet::belief::acknowledge() noexcept {
  if (acknowledged_ != nullptr) *acknowledged_ = true;
}

score_sheet::belief score_sheet::begin_belief(int key, version granted,
                                              possession_kind kind) noexcept {
  const auto place = page_->used++;
  if (place >= most_beliefs) return {nullptr, nullptr};
  auto& record = page_->beliefs[place];
  record.key = key;
  record.kind = kind;
  record.version = granted.number;
  const auto now = number_of(boot_clock::now());
  record.begin = now;
  record.end = now;
  return {&record.end, &record.acknowledged};
}

std::vector<believed> score_sheet::beliefs() const {
  if (page_->used > most_beliefs) throw std::length_error{"the score sheet is too short"};
  std::vector<believed> all;
  for (std::size_t place = 0; place < page_->used; ++place) {
    const auto& record = page_->beliefs[place];
    all.push_back({.key = record.key,
                   .version = {record.version},
                   .kind = record.kind,
                   .begin = time_of(record.begin),
                   .end = time_of(record.end),
                   .acknowledged = record.acknowledged});
  }
  return all;
}

}  // namespace rowlock::tests
