// Locks in servers that keep them in memory, for scale: what a crash of the server takes with it.
#include <hiredis/hiredis.h>
#include <libmemcached/memcached.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "race/protocol.hpp"
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

/// SET NX PX, and a script that compares and deletes.
class redis_contender final : public polling_contender {
 public:
  explicit redis_contender(const place& where) : connection_{connected(where.server)} {
    script_ = command("SCRIPT LOAD %s",
                      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', "
                      "KEYS[1]) else return 0 end")
                  ->str;
  }

  bool take(const lock_key& key) override {
    name_ = name_of(key);
    owner_ = make_owner_id().text;
    const auto ttl_ms = std::to_string(std::chrono::milliseconds{ttl}.count());
    return command("SET %s %s NX PX %s", name_.c_str(), owner_.c_str(), ttl_ms.c_str())->type ==
           REDIS_REPLY_STATUS;
  }
  void give_back() override {
    if (command("EVALSHA %s 1 %s %s", script_.c_str(), name_.c_str(), owner_.c_str())->integer !=
        1) {
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
  std::unique_ptr<redisReply, close> command(const char* text, Values... values) {
    std::unique_ptr<redisReply, close> reply{
        static_cast<redisReply*>(redisCommand(connection_.get(), text, values...))};
    if (reply == nullptr) throw std::runtime_error{connection_->errstr};
    if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error{reply->str};
    return reply;
  }

  std::unique_ptr<redisContext, close> connection_;
  std::string script_;
  std::string name_;
  std::string owner_;
};

/// add, and delete without a comparison.
class memcached_contender final : public polling_contender {
 public:
  explicit memcached_contender(const place& where)
      : connection_{memcached_create(nullptr), memcached_free} {
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

/// With a connection for each thread. Not durable.
template <class Contender>
protocol cache(const char* name, engine on) {
  return {.name = name,
          .runs_on = on,
          .build = [](const place&) {},
          .open = contenders_sharing<Contender, place>};
}

}  // namespace

std::vector<protocol> cache_protocols() {
  return {
      cache<redis_contender>("redis", engine::redis),
      cache<memcached_contender>("memcached", engine::memcached),
  };
}

}  // namespace rowlock::race
