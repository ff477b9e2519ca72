// Memory that the processes of one measurement share.
#include "race/shared_state.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <ctime>
#include <memory>
#include <system_error>

namespace rowlock::race {

static_assert(std::atomic<stage>::is_always_lock_free, "or processes could not share it");

namespace {

class held {
 public:
  explicit held(pthread_mutex_t& mutex) : mutex_{mutex} { pthread_mutex_lock(&mutex_); }
  held(const held&) = delete;
  held& operator=(const held&) = delete;
  ~held() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t& mutex_;
};

timespec soon() {
  timespec when{};
  clock_gettime(CLOCK_REALTIME, &when);
  constexpr long slice = 50'000'000;
  constexpr long second = 1'000'000'000;
  when.tv_nsec += slice;
  if (when.tv_nsec >= second) {
    when.tv_nsec -= second;
    ++when.tv_sec;
  }
  return when;
}

}  // namespace

hot_key_grants::hot_key_grants() {
  pthread_mutexattr_t mutex{};
  pthread_mutexattr_init(&mutex);
  pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&mutex_, &mutex);
  pthread_mutexattr_destroy(&mutex);
  pthread_condattr_t changed{};
  pthread_condattr_init(&changed);
  pthread_condattr_setpshared(&changed, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&changed_, &changed);
  pthread_condattr_destroy(&changed);
}

hot_key_grants::~hot_key_grants() {
  pthread_cond_destroy(&changed_);
  pthread_mutex_destroy(&mutex_);
}

hot_key_grants::grant hot_key_grants::enter(unsigned thread) {
  const auto now = clock::now();
  const held lock{mutex_};
  grant granted{.number = ++grants_, .is_alone = !is_inside_, .handed_over_in = {}};
  if (last_ && last_ != thread) granted.handed_over_in = now - left_at_;
  is_inside_ = true;
  last_ = thread;
  pthread_cond_broadcast(&changed_);
  return granted;
}

void hot_key_grants::leave() {
  const held lock{mutex_};
  is_inside_ = false;
  left_at_ = clock::now();
}

void hot_key_grants::wait_for_another(std::uint64_t number, const std::function<bool()>& is_over) {
  const held lock{mutex_};
  while (grants_ == number && !is_over()) {
    const auto until = soon();
    pthread_cond_timedwait(&changed_, &mutex_, &until);
  }
}

mapped_state::mapped_state() {
  void* const memory = mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error{errno, std::generic_category(), "mmap"};
  state_ = std::construct_at(static_cast<shared_state*>(memory));
}

mapped_state::~mapped_state() {
  std::destroy_at(state_);
  munmap(state_, sizeof(shared_state));
}

}  // namespace rowlock::race
