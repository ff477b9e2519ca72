// The HTTP server of the page. The only file that includes Beast, which takes long to compile.
#include "cli/serve/http_server.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <limits>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using net::ip::tcp;

/// Above that, and above half of the descriptors that the process may have, the connection that has
/// been silent for longest is closed for a new one.
constexpr std::size_t most_connections = 512;
/// The request line and the headers.
constexpr std::uint32_t longest_head = 16'384;
/// The target of the request, and each header.
constexpr std::size_t longest_line = 8'192;
/// All answers that are being sent. Above that, the one that has taken longest is given up.
constexpr std::size_t most_unsent = std::size_t{64} << 20U;
/// What the kernel keeps of an answer counts in no bound of this process.
constexpr int kept_by_kernel = 65'536;
constexpr int most_not_accepted = 1024;
/// From the connection until its whole head has come.
constexpr std::chrono::seconds time_for_head{5};
/// Until a connection is accepted again.
constexpr std::chrono::milliseconds without_descriptor{100};
/// Until the answer is taken by the client.
constexpr std::chrono::seconds time_for_answer{30};
/// Until the client closes the connection, once it has its answer.
constexpr std::chrono::seconds time_for_end{2};

/// What the page needs, and nothing else.
constexpr const char* content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

using head = http::header<true, http::fields>;

web_answer refusal(http::status status) {
  return {.status = static_cast<int>(status),
          .body = "this is no request of HTTP/1.1 that can be answered\n"};
}

/// None for a failure of the connection.
std::optional<web_answer> refusal_of(error_code failure) {
  const bool is_of_http = failure.category() == make_error_code(http::error::bad_method).category();
  const bool is_closed =
      failure == http::error::end_of_stream || failure == http::error::partial_message;
  if (!is_of_http || is_closed) return {};
  return refusal(failure == http::error::header_limit
                     ? http::status::request_header_fields_too_large
                     : http::status::bad_request);
}

/// None for a head that may be answered.
std::optional<web_answer> refusal_of(const head& request) {
  if (request.target().size() > longest_line) return refusal(http::status::uri_too_long);
  const bool has_long_line = std::any_of(request.begin(), request.end(), [](const auto& field) {
    return field.name_string().size() + field.value().size() > longest_line;
  });
  if (has_long_line || request.method() == http::verb::unknown) {
    return refusal(http::status::bad_request);
  }
  return {};
}

/// Texts of Boost's own class.
std::string text_of(const auto& text) { return {text.data(), text.size()}; }

/// The path and query of a target, which may be a whole address (RFC 9112, 3.2.2).
std::string path_of(std::string target) {
  constexpr std::string_view scheme = "http://";
  if (!target.starts_with(scheme)) return target;
  const auto path = target.find_first_of("/?", scheme.size());
  if (path == std::string::npos) return "/";
  return (target[path] == '?' ? "/" : "") + target.substr(path);
}

web_request request_of(const head& parsed) {
  web_request request{.method = text_of(parsed.method_string()),
                      .target = path_of(text_of(parsed.target()))};
  const auto [begin, end] = parsed.equal_range(http::field::host);
  for (auto at = begin; at != end; ++at) request.hosts.push_back(text_of(at->value()));
  const auto length = parsed.find(http::field::content_length);
  request.has_body = parsed.count(http::field::transfer_encoding) > 0 ||
                     (length != parsed.end() && length->value() != "0");
  return request;
}

http::response<http::string_body> response_of(web_answer given, http::verb method) {
  http::response<http::string_body> response;
  response.result(static_cast<unsigned>(given.status));
  response.set("Content-Security-Policy", content_policy);
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  response.set(http::field::cache_control, given.is_file ? "no-cache" : "no-store");
  response.set(http::field::accept_ranges, "none");
  response.set(http::field::content_type, given.type);
  if (response.result() == http::status::method_not_allowed) {
    response.set(http::field::allow, "GET, HEAD");
  }
  response.keep_alive(false);
  response.content_length(given.body.size());
  if (method != http::verb::head) response.body() = std::move(given.body);
  return response;
}

std::string what_to_do(const error_code& reason, const listen_address& where) {
  namespace errc = boost::system::errc;
  const std::string other = "or choose another port with --listen (port 0 takes a free one)";
  if (reason == errc::address_in_use) {
    return "the port is in use: end what listens there (ss -ltnp shows it), " + other;
  }
  if (reason == errc::permission_denied) {
    return "not permitted: ports below 1024 need a privilege, " + other;
  }
  if (reason == errc::address_not_available) {
    return "this machine has no address " + where.host() +
           ": write one of its own (ip address shows them) with --listen";
  }
  return reason.message() + ": choose another address with --listen";
}

tcp::acceptor listening(net::io_context& context, const listen_address& where) {
  try {
    const tcp::endpoint end{net::ip::make_address(where.host()), where.port()};
    tcp::acceptor acceptor{context, end};
    acceptor.listen(most_not_accepted);
    return acceptor;
  } catch (const boost::system::system_error& fault) {
    throw error{errc::unavailable,
                "cannot listen on " + where.text() + ": " + what_to_do(fault.code(), where)};
  }
}

std::size_t connections_allowed() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return most_connections;
  // The other half is for the database's connections.
  return std::min<std::size_t>(most_connections, files.rlim_cur / 2);
}

class connection_loop final : public http_server {
 public:
  explicit connection_loop(const listen_address& where) : acceptor_{listening(context_, where)} {}

  [[nodiscard]] listen_address bound() const override {
    const auto end = acceptor_.local_endpoint();
    return {end.address().to_string(), end.port()};
  }

  void read_ended() override {
    net::post(context_, [this] {
      // An answer moves its connection in the list.
      for (const auto& known : std::vector(connections_.begin(), connections_.end())) {
        if (known->at == step::waiting) try_answer(known);
      }
    });
  }

  int run(web_requests& requests, signal_queue& signals) override {
    requests_ = &requests;
    net::posix::stream_descriptor queue{context_, dup(signals.descriptor())};
    await_signal(queue, signals);
    accept();
    context_.run();
    return ended_by_;
  }

 private:
  enum class step {
    reading,  // the head has not come
    waiting,  // for a read of the database
    sending,
    ending,  // all is sent; the client may still send
  };

  struct connection {
    explicit connection(tcp::socket socket)
        : stream{std::move(socket)}, patience{stream.get_executor()} {
      request.header_limit(longest_head);
      // A body is refused, and not read.
      request.body_limit(std::numeric_limits<std::uint64_t>::max());
    }

    boost::beast::tcp_stream stream;
    net::steady_timer patience;
    boost::beast::flat_buffer received;
    http::request_parser<http::empty_body> request;
    http::response<http::string_body> response;
    step at = step::reading;
  };
  /// Shared with the operation that goes on.
  using shared_connection = std::shared_ptr<connection>;

  void await_signal(net::posix::stream_descriptor& queue, signal_queue& signals) {
    queue.async_wait(queue.wait_read, [this, &queue, &signals](error_code /*failure*/) {
      while (const auto came = signals.next()) {
        if (came->ssi_signo == SIGCHLD) continue;
        ended_by_ = static_cast<int>(came->ssi_signo);
        context_.stop();
        return;
      }
      await_signal(queue, signals);
    });
  }

  void accept() {
    acceptor_.async_accept([this](error_code failure, tcp::socket socket) {
      namespace errc = boost::system::errc;
      const bool has_no_descriptor =
          failure == errc::too_many_files_open || failure == errc::too_many_files_open_in_system;
      if (has_no_descriptor && !make_room()) return accept_later();
      if (!failure) begin(std::move(socket));
      accept();
    });
  }

  /// Other parts of the process have all descriptors.
  void accept_later() {
    pause_.expires_after(without_descriptor);
    pause_.async_wait([this](error_code /*failure*/) { accept(); });
  }

  void begin(tcp::socket socket) {
    if (connections_.size() >= most_connections_) make_room();
    error_code ignored;
    socket.set_option(net::socket_base::send_buffer_size{kept_by_kernel}, ignored);
    const auto added = connections_.emplace_back(std::make_shared<connection>(std::move(socket)));
    added->stream.expires_after(time_for_head);
    http::async_read_header(
        added->stream, added->received, added->request,
        [this, added](error_code failure, std::size_t /*size*/) { take_head(added, failure); });
  }

  void take_head(const shared_connection& which, error_code failure) {
    const head& request = which->request.get();
    auto refused = failure ? refusal_of(failure) : refusal_of(request);
    if (refused) {
      send(which, std::move(*refused), "");
    } else if (failure) {
      end(which);
    } else {
      enter(which, step::waiting);
      await_answer(which);
    }
  }

  void await_answer(const shared_connection& which) {
    if (try_answer(which)) return;
    // By then the read is answered with a fault, unless a new one began meanwhile.
    which->patience.expires_after(shared_reads::patience);
    which->patience.async_wait([this, which](error_code stopped) {
      if (!stopped && which->at == step::waiting) await_answer(which);
    });
  }

  bool try_answer(const shared_connection& which) {
    const auto request = request_of(which->request.get());
    auto given = requests_->answer(request);
    if (given) send(which, std::move(*given), request.path());
    return given.has_value();
  }

  void send(const shared_connection& which, web_answer given, const std::string& path) {
    requests_->count(path, given.status);
    which->patience.cancel();
    which->response = response_of(std::move(given), which->request.get().method());
    enter(which, step::sending);
    which->stream.expires_after(time_for_answer);
    http::async_write(which->stream, which->response,
                      [this, which](error_code failure, std::size_t /*size*/) {
                        failure ? end(which) : begin_end(which);
                      });
    limit_unsent();
  }

  /// A connection that is closed while bytes of the client wait in it is reset, and the client may
  /// lose the answer.
  void begin_end(const shared_connection& which) {
    which->response = {};
    error_code ignored;
    which->stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
    enter(which, step::ending);
    which->stream.expires_after(time_for_end);
    drain(which);
  }

  // NOLINTBEGIN(misc-no-recursion): the loop calls the handler, and not the call that it is given
  // to
  void drain(const shared_connection& which) {
    constexpr std::size_t at_a_time = 16'384;
    which->received.clear();
    which->stream.async_read_some(which->received.prepare(at_a_time),
                                  [this, which](error_code failure, std::size_t /*size*/) {
                                    failure ? end(which) : drain(which);
                                  });
  }
  // NOLINTEND(misc-no-recursion)

  void enter(const shared_connection& which, step next) {
    which->at = next;
    connections_.remove(which);
    connections_.push_back(which);
  }

  void end(const shared_connection& which) {
    which->stream.close();
    which->patience.cancel();
    connections_.remove(which);
  }

  /// Gives up the connection that has been in this step for longest; null if there is none.
  shared_connection drop_first(step where) {
    const auto first =
        std::find_if(connections_.begin(), connections_.end(),
                     [where](const shared_connection& known) { return known->at == where; });
    if (first == connections_.end()) return nullptr;
    auto dropped = *first;
    end(dropped);
    requests_->count_dropped();
    return dropped;
  }

  /// Returns false if there is no connection.
  bool make_room() {
    constexpr std::array least_loss_first{step::reading, step::ending, step::sending,
                                          step::waiting};
    return std::ranges::any_of(least_loss_first,
                               [this](step each) { return drop_first(each) != nullptr; });
  }

  void limit_unsent() {
    std::size_t sum = 0;
    for (const auto& known : connections_) sum += known->response.body().size();
    while (sum > most_unsent) sum -= drop_first(step::sending)->response.body().size();
  }

  const std::size_t most_connections_ = connections_allowed();
  net::io_context context_{1};
  tcp::acceptor acceptor_;
  net::steady_timer pause_{context_};
  web_requests* requests_ = nullptr;
  /// The one that has been in its step for longest comes first.
  std::list<shared_connection> connections_;
  int ended_by_ = 0;
};

}  // namespace

std::unique_ptr<http_server> http_server::listen(const listen_address& where) {
  return std::make_unique<connection_loop>(where);
}

}  // namespace rowlock::cli
