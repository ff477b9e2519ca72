// Who has the hot key, and since when its last holder wants to be rid of it.
#include "race/turns.hpp"

#include <cerrno>
#include <ctime>

namespace rowlock::race {

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

turns::turns() {
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

turns::~turns() {
  pthread_cond_destroy(&changed_);
  pthread_mutex_destroy(&mutex_);
}

turns::grant turns::enter(unsigned who) {
  const auto now = clock::now();
  const held lock{mutex_};
  grant granted{.number = ++grants_, .is_alone = !is_inside_, .handed_over_in = {}};
  if (last_ && last_ != who) granted.handed_over_in = now - left_at_;
  is_inside_ = true;
  last_ = who;
  pthread_cond_broadcast(&changed_);
  return granted;
}

void turns::leave() {
  const held lock{mutex_};
  is_inside_ = false;
  left_at_ = clock::now();
}

void turns::wait_for_another(std::uint64_t number, const std::function<bool()>& is_over) {
  const held lock{mutex_};
  while (grants_ == number && !is_over()) {
    const auto until = soon();
    pthread_cond_timedwait(&changed_, &mutex_, &until);
  }
}

}  // namespace rowlock::race
