// Locks in servers that keep them in memory, for scale: what a crash of the server takes with it.
#include "race/caches.hpp"

#include <hiredis/hiredis.h>
#include <libmemcached/memcached.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include "rowlock/port/requests.hpp"

namespace rowlock::race {

namespace {

struct address {
  explicit address(const std::string& server)
      : host{server.substr(0, server.find(':'))},
        port{std::stoi(server.substr(server.find(':') + 1))} {}
  std::string host;
  int port;
};

std::string name_of(const lock_key& key) { return key.type + ':' + key.source_id; }

class redis_contender final : public polling_contender {
 public:
  explicit redis_contender(const place& where)
      : polling_contender{{}}, connection_{connected(where.server)} {
    script_ = said("SCRIPT LOAD %s",
                   "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', "
                   "KEYS[1]) else return 0 end")
                  ->str;
  }

  bool take(const lock_key& key) override {
    name_ = name_of(key);
    owner_ = make_owner_id().text;
    const auto ttl_ms = std::to_string(std::chrono::milliseconds{ttl}.count());
    return said("SET %s %s NX PX %s", name_.c_str(), owner_.c_str(), ttl_ms.c_str())->type ==
           REDIS_REPLY_STATUS;
  }
  void give_back() override {
    if (said("EVALSHA %s 1 %s %s", script_.c_str(), name_.c_str(), owner_.c_str())->integer != 1) {
      throw std::runtime_error{"not deleted"};
    }
  }

 private:
  struct close {
    void operator()(redisContext* connection) const { redisFree(connection); }
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };

  static std::unique_ptr<redisContext, close> connected(const std::string& server) {
    const address at{server};
    std::unique_ptr<redisContext, close> made{redisConnect(at.host.c_str(), at.port)};
    if (made == nullptr || made->err != 0) throw std::runtime_error{"cannot connect to Redis"};
    return made;
  }

  template <class... Values>
  std::unique_ptr<redisReply, close> said(const char* command, Values... values) {
    std::unique_ptr<redisReply, close> reply{
        static_cast<redisReply*>(redisCommand(connection_.get(), command, values...))};
    if (reply == nullptr) throw std::runtime_error{connection_->errstr};
    if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error{reply->str};
    return reply;
  }

  std::unique_ptr<redisContext, close> connection_;
  std::string script_;
  std::string name_;
  std::string owner_;
};

class memcached_contender final : public polling_contender {
 public:
  explicit memcached_contender(const place& where)
      : polling_contender{{}}, connection_{memcached_create(nullptr), memcached_free} {
    const address at{where.server};
    memcached_behavior_set(connection_.get(), MEMCACHED_BEHAVIOR_TCP_NODELAY, 1);
    check(
        memcached_server_add(connection_.get(), at.host.c_str(), static_cast<in_port_t>(at.port)));
  }

  bool take(const lock_key& key) override {
    name_ = name_of(key);
    const auto owner = make_owner_id().text;
    const auto result = memcached_add(connection_.get(), name_.data(), name_.size(), owner.data(),
                                      owner.size(), ttl.count(), 0);
    if (result == MEMCACHED_NOTSTORED) return false;
    check(result);
    return true;
  }
  void give_back() override {
    check(memcached_delete(connection_.get(), name_.data(), name_.size(), 0));
  }

 private:
  void check(memcached_return_t result) const {
    if (result != MEMCACHED_SUCCESS) {
      throw std::runtime_error{memcached_strerror(connection_.get(), result)};
    }
  }

  std::unique_ptr<memcached_st, void (*)(memcached_st*)> connection_;
  std::string name_;
};

template <class Contender>
class cache_entrance final : public entrance {
 public:
  explicit cache_entrance(place where) : where_{std::move(where)} {}
  std::unique_ptr<contender> enter() override { return std::make_unique<Contender>(where_); }

 private:
  place where_;
};

template <class Contender>
protocol cache(std::string name, engine on) {
  return {
      .name = std::move(name),
      .runs_on = on,
      .build = [](const place&) {},
      .open =
          [](const place& where) { return std::make_unique<cache_entrance<Contender>>(where); }};
}

}  // namespace

protocol redis(std::string name) { return cache<redis_contender>(std::move(name), engine::redis); }

protocol memcached(std::string name) {
  return cache<memcached_contender>(std::move(name), engine::memcached);
}

}  // namespace rowlock::race
