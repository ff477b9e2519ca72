// rowlock_slow_network: passes TCP connections on, and every byte arrives later. When one side has
// closed a connection, what is still under way is dropped.
#include <CLI/CLI.hpp>
#include <array>
#include <asio.hpp>
#include <chrono>
#include <deque>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rowlock::race {
namespace {

using asio::ip::tcp;
using clock = std::chrono::steady_clock;

struct connection {
  explicit connection(asio::io_context& context) : client{context}, server{context} {}
  tcp::socket client;
  tcp::socket server;

  void close() {
    asio::error_code ignored;
    client.close(ignored);
    server.close(ignored);
  }
};

/// One direction of a connection. Pieces are read as they come, and each is written when its delay
/// is over.
class direction : public std::enable_shared_from_this<direction> {
 public:
  direction(std::shared_ptr<connection> of, tcp::socket& from, tcp::socket& to,
            clock::duration delay)
      : of_{std::move(of)}, from_{from}, to_{to}, delay_{delay}, timer_{to.get_executor()} {}

  void read() {
    from_.async_read_some(
        asio::buffer(piece_),
        [self = shared_from_this()](const asio::error_code& failed, std::size_t length) {
          if (failed) return self->of_->close();
          self->late_.push_back(
              {clock::now() + self->delay_,
               {self->piece_.begin(), self->piece_.begin() + static_cast<std::ptrdiff_t>(length)}});
          if (self->late_.size() == 1) self->write_when_due();
          self->read();
        });
  }

 private:
  struct late_piece {
    clock::time_point due;
    std::vector<char> bytes;
  };

  void write_when_due() {
    timer_.expires_at(late_.front().due);
    timer_.async_wait([self = shared_from_this()](const asio::error_code&) { self->write(); });
  }
  void write() {
    asio::async_write(to_, asio::buffer(late_.front().bytes),
                      [self = shared_from_this()](const asio::error_code& failed, std::size_t) {
                        if (failed) return self->of_->close();
                        self->late_.pop_front();
                        if (!self->late_.empty()) self->write_when_due();
                      });
  }

  const std::shared_ptr<connection> of_;
  tcp::socket& from_;
  tcp::socket& to_;
  const clock::duration delay_;
  asio::steady_timer timer_;
  std::array<char, 65536> piece_{};
  std::deque<late_piece> late_;
};

class proxy {
 public:
  proxy(asio::io_context& context, unsigned short server, clock::duration delay)
      : context_{context},
        server_{asio::ip::address_v4::loopback(), server},
        delay_{delay},
        acceptor_{context, {asio::ip::address_v4::loopback(), 0}} {}

  [[nodiscard]] unsigned short port() const { return acceptor_.local_endpoint().port(); }

  void accept() {
    auto accepted = std::make_shared<connection>(context_);
    acceptor_.async_accept(accepted->client, [this, accepted](const asio::error_code& failed) {
      if (failed) return context_.stop();
      pass_on(accepted);
      accept();
    });
  }

 private:
  void pass_on(const std::shared_ptr<connection>& accepted) {
    asio::error_code failed;
    accepted->server.connect(server_, failed);
    if (failed) return accepted->close();
    accepted->client.set_option(tcp::no_delay{true});
    accepted->server.set_option(tcp::no_delay{true});
    const auto pass = [&](tcp::socket& from, tcp::socket& to) {
      std::make_shared<direction>(accepted, from, to, delay_)->read();
    };
    pass(accepted->client, accepted->server);
    pass(accepted->server, accepted->client);
  }

  asio::io_context& context_;
  const tcp::endpoint server_;
  const clock::duration delay_;
  tcp::acceptor acceptor_;
};

int run(int argc, char** argv) {
  CLI::App app{
      "Listens on a port of 127.0.0.1, which it prints, and passes connections on to another one. "
      "Every byte arrives later, in both directions. Runs until its input ends."};
  unsigned short server = 0;
  int delay_us = 0;
  app.add_option("port", server, "of the server")->required();
  app.add_option("delay-us", delay_us, "in each direction")->required();
  CLI11_PARSE(app, argc, argv);

  asio::io_context context;
  proxy passes{context, server, std::chrono::microseconds{delay_us}};
  passes.accept();
  std::cout << passes.port() << std::endl;  // at once: another program reads it
  asio::posix::stream_descriptor input{context, STDIN_FILENO};
  std::array<char, 1> ignored{};
  input.async_read_some(asio::buffer(ignored),
                        [&](const asio::error_code&, std::size_t) { context.stop(); });
  context.run();
  return 0;
}

}  // namespace
}  // namespace rowlock::race

int main(int argc, char** argv) {
  try {
    return rowlock::race::run(argc, argv);
  } catch (const std::exception& thrown) {
    std::cerr << "rowlock_slow_network: " << thrown.what() << '\n';
    return 1;
  }
}
