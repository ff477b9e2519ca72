// The HTTP server of the page: one thread, and no connection that another one waits for.
#include "cli/serve/http_server.hpp"

#include <httplib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace rowlock::cli {

namespace {

/// What the page needs, and nothing else.
constexpr const char* content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

httplib::Headers headers_of_all() {
  return {{"Content-Security-Policy", content_policy},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

/// A request that is all here; the answer is collected.
class text_stream final : public httplib::Stream {
 public:
  explicit text_stream(std::string_view request) : unread_{request} {}

  [[nodiscard]] bool is_readable() const override { return true; }
  [[nodiscard]] bool is_writable() const override { return true; }
  ssize_t read(char* to, size_t size) override {
    const std::size_t count = std::min(size, unread_.size());
    std::copy_n(unread_.begin(), count, to);
    unread_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, size_t size) override {
    written_.append(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  [[nodiscard]] socket_t socket() const override { return -1; }

  [[nodiscard]] std::string take_written() { return std::move(written_); }

 private:
  std::string_view unread_;
  std::string written_;
};

bool has_name(std::string_view line, std::string_view name) {
  return line.size() > name.size() && line[name.size()] == ':' &&
         std::equal(name.begin(), name.end(), line.begin(), [](char left, char right) {
           return left ==
                  (right >= 'A' && right <= 'Z' ? static_cast<char>(right + ('a' - 'A')) : right);
         });
}

/// Without the headers that would make cpp-httplib cut answers in pieces (of which a request may
/// name thousands) or compress them (in this one thread).
std::string without_wishes(std::string_view head) {
  std::string kept;
  kept.reserve(head.size());
  while (!head.empty()) {
    const auto line = head.substr(0, std::min(head.find('\n'), head.size() - 1) + 1);
    if (!has_name(line, "range") && !has_name(line, "accept-encoding") &&
        !has_name(line, "expect")) {
      kept += line;
    }
    head.remove_prefix(line.size());
  }
  return kept;
}

std::string too_large() {
  std::string text = "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n";
  for (const auto& [name, value] : headers_of_all()) {
    text.append(name).append(": ").append(value).append("\r\n");
  }
  return text + "Content-Length: 0\r\n\r\n";
}

web_request request_of(const httplib::Request& parsed) {
  web_request request;
  request.method = parsed.method;
  request.path = parsed.path;
  request.parameters = {parsed.params.begin(), parsed.params.end()};
  const auto [begin, end] = parsed.headers.equal_range("Host");
  for (auto at = begin; at != end; ++at) request.hosts.push_back(at->second);
  request.has_body =
      parsed.has_header("Transfer-Encoding") ||
      (parsed.has_header("Content-Length") && parsed.get_header_value("Content-Length") != "0");
  return request;
}

}  // namespace

repeated_wakeup::repeated_wakeup() : event_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"} {}

void repeated_wakeup::raise() const noexcept { eventfd_write(event_.number(), 1); }

void repeated_wakeup::clear() const noexcept {
  eventfd_t count = 0;
  eventfd_read(event_.number(), &count);
}

/// From the head of a request to the bytes of its answer.
class http_server::head_reader final : private httplib::Server {
 public:
  explicit head_reader(web_requests& requests) : requests_{requests} {
    set_default_headers(headers_of_all());
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      handle(request, response);
      return HandlerResponse::Handled;  // its own routes are not used
    });
    // For heads that it refuses itself.
    set_error_handler(
        HandlerWithResponse{[](const httplib::Request& /*request*/, httplib::Response& response) {
          if (!response.body.empty()) return HandlerResponse::Unhandled;
          response.set_content("this is no request of HTTP/1.1 that can be answered\n",
                               "text/plain; charset=utf-8");
          response.set_header("Cache-Control", "no-store");
          return HandlerResponse::Handled;
        }});
  }

  /// None while the database is read for it.
  std::optional<std::string> answer(std::string_view head) {
    path_.clear();
    is_pending_ = false;
    status_ = 400;  // of a head that never reaches `handle`
    const std::string kept = without_wishes(head);
    text_stream stream{kept};
    bool is_closed = false;
    process(*this, stream, is_closed);
    if (is_pending_) return {};
    requests_.count(path_, status_);
    return stream.take_written();
  }

 private:
  /// Newer versions of cpp-httplib (Debian 13 has 0.18) are given the addresses, too.
  static void process(auto& self, text_stream& stream, bool& is_closed) {
    if constexpr (requires { self.process_request(stream, true, is_closed, nullptr); }) {
      self.process_request(stream, true, is_closed, nullptr);
    } else {
      self.process_request(stream, "", 0, "", 0, true, is_closed, nullptr);
    }
  }

  void handle(const httplib::Request& parsed, httplib::Response& response) {
    path_ = parsed.path;
    auto given = requests_.answer(request_of(parsed));
    if (!given) {
      is_pending_ = true;
      return;
    }
    status_ = given->status;
    response.status = given->status;
    response.set_header("Cache-Control", given->is_file ? "no-cache" : "no-store");
    response.set_header("Accept-Ranges", "none");
    if (given->status == 405) response.set_header("Allow", "GET, HEAD");
    response.set_content(given->body, given->type);
  }

  web_requests& requests_;
  std::string path_;
  int status_ = 0;
  bool is_pending_ = false;
};

http_server::http_server(const listening_socket& socket, web_requests& requests,
                         const repeated_wakeup& read_ended, limits bounds)
    : socket_{socket},
      requests_{requests},
      read_ended_{read_ended},
      limits_{bounds},
      reader_{std::make_unique<head_reader>(requests)} {
  rlimit files{};
  // The other half is for the database's connections.
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    limits_.connections = std::min<std::size_t>(limits_.connections, files.rlim_cur / 2);
  }
}

http_server::~http_server() = default;

int http_server::run(signal_queue& signals) {
  for (;;) {
    auto ready = events(signals);
    poll(ready.data(), ready.size(), timeout());
    while (const auto came = signals.next()) {
      if (came->ssi_signo != SIGCHLD) return static_cast<int>(came->ssi_signo);
    }
    const bool has_read = ready[1].revents != 0;
    if (has_read) read_ended_.clear();
    // `accept_all` comes last: it changes the list, which `ready` follows.
    auto each = ready.begin() + 3;
    // A step that is entered moves its connection to the end of the list.
    std::vector<connection*> all;
    for (auto& known : connections_) all.push_back(&known);
    for (auto* const known : all) {
      const bool has_event = (each++)->revents != 0;
      if (known->at == step::waiting && has_event) {
        known->is_over = true;  // the client has gone
      } else if (has_event || (has_read && known->at == step::waiting)) {
        proceed(*known);
        limit_unsent();
      }
    }
    end_late(clock::now());
    std::erase_if(connections_, [](const connection& known) { return known.is_over; });
    if (ready[2].revents != 0) accept_all();
  }
}

std::vector<pollfd> http_server::events(const signal_queue& signals) const {
  std::vector<pollfd> all{{signals.descriptor(), POLLIN, 0},
                          {read_ended_.descriptor(), POLLIN, 0},
                          {socket_.descriptor(), POLLIN, 0}};
  for (const auto& known : connections_) {
    // While it waits only its end is of interest, which poll() reports in any case.
    short wanted = POLLIN;
    if (known.at == step::waiting) wanted = 0;
    if (known.at == step::sending) wanted = POLLOUT;
    all.push_back({known.socket.number(), wanted, 0});
  }
  return all;
}

int http_server::timeout() const {
  auto first = clock::time_point::max();
  for (const auto& known : connections_) first = std::min(first, known.until);
  if (first == clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

void http_server::enter(connection& which, step next, std::chrono::milliseconds time) {
  which.at = next;
  which.until = clock::now() + time;
  const auto at = std::find_if(connections_.begin(), connections_.end(),
                               [&which](const connection& known) { return &known == &which; });
  connections_.splice(connections_.end(), connections_, at);
}

void http_server::accept_all() {
  // Bounded: connections that exist go on in between.
  constexpr int at_a_time = 64;
  for (int i = 0; i < at_a_time; ++i) {
    const int accepted =
        accept4(socket_.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted == -1) {
      if ((errno != EMFILE && errno != ENFILE) || connections_.empty()) return;
      make_room();  // and with it a descriptor
      continue;
    }
    if (connections_.size() >= limits_.connections) make_room();
    // What the kernel keeps of an answer counts in no bound of this process.
    const int kept_by_kernel = 65'536;
    setsockopt(accepted, SOL_SOCKET, SO_SNDBUF, &kept_by_kernel, sizeof kept_by_kernel);
    connections_.push_back({.socket = file_descriptor{accepted, "accept"}});
    connections_.back().until = clock::now() + limits_.time_for_head;
    // What has come already needs no further turn.
    receive(connections_.back());
    if (connections_.back().is_over) connections_.pop_back();
  }
}

void http_server::make_room() {
  for (const auto least_loss : {step::reading, step::ending, step::sending, step::waiting}) {
    const auto first =
        std::find_if(connections_.begin(), connections_.end(),
                     [least_loss](const connection& known) { return known.at == least_loss; });
    if (first == connections_.end()) continue;
    connections_.erase(first);
    requests_.count_dropped();
    return;
  }
}

void http_server::proceed(connection& which) {
  switch (which.at) {
    case step::reading:
      receive(which);
      return;
    case step::waiting:
      answer(which);
      return;
    case step::sending:
      send_more(which);
      return;
    case step::ending:
      drain(which);
      return;
  }
}

void http_server::receive(connection& which) {
  std::array<char, 4096> chunk{};
  const auto count = recv(which.socket.number(), chunk.data(), chunk.size(), 0);
  if (count <= 0) {
    which.is_over = count == 0 || (errno != EAGAIN && errno != EINTR);
    return;
  }
  // The end may have come in two pieces.
  const std::size_t from = which.received.size() - std::min<std::size_t>(3, which.received.size());
  which.received.append(chunk.data(), static_cast<std::size_t>(count));
  const auto end = which.received.find("\r\n\r\n", from);
  if (std::min(end, which.received.size()) > limits_.head) {
    requests_.count("", 431);
    begin_sending(which, too_large());
    return;
  }
  if (end == std::string::npos) return;
  which.received.resize(end + 4);
  enter(which, step::waiting, shared_reads::patience);
  answer(which);
}

void http_server::answer(connection& which) {
  if (auto text = reader_->answer(which.received)) begin_sending(which, std::move(*text));
}

void http_server::begin_sending(connection& which, std::string text) {
  which.received = {};
  which.unsent = std::move(text);
  enter(which, step::sending, limits_.time_for_answer);
  send_more(which);
}

void http_server::send_more(connection& which) {
  const auto count = send(which.socket.number(), which.unsent.data() + which.sent,
                          which.unsent.size() - which.sent, MSG_NOSIGNAL);
  if (count == -1) {
    which.is_over = errno != EAGAIN && errno != EINTR;
    return;
  }
  which.sent += static_cast<std::size_t>(count);
  if (which.sent < which.unsent.size()) return;
  which.unsent = {};
  which.sent = 0;
  // A connection that is closed while bytes of the client wait in it is reset, and the client may
  // lose the answer.
  shutdown(which.socket.number(), SHUT_WR);
  enter(which, step::ending, limits_.time_for_end);
  drain(which);
}

void http_server::drain(connection& which) {
  std::array<char, 16384> chunk{};
  const auto count = recv(which.socket.number(), chunk.data(), chunk.size(), 0);
  which.is_over = count == 0 || (count == -1 && errno != EAGAIN && errno != EINTR);
}

void http_server::limit_unsent() {
  std::size_t sum = 0;
  for (const auto& known : connections_) {
    if (!known.is_over) sum += known.unsent.size();
  }
  for (auto& known : connections_) {
    if (sum <= limits_.unsent) return;
    if (known.is_over || known.at != step::sending) continue;
    sum -= known.unsent.size();
    known.is_over = true;
    requests_.count_dropped();
  }
}

void http_server::end_late(clock::time_point now) {
  std::vector<connection*> late;
  for (auto& known : connections_) {
    if (!known.is_over && known.until <= now) late.push_back(&known);
  }
  for (auto* const known : late) {
    if (known->at == step::waiting) {
      // By now the read is answered with a fault, or a new one began meanwhile.
      answer(*known);
      limit_unsent();
      if (known->at == step::waiting) known->until = now + shared_reads::patience;
      continue;
    }
    known->is_over = true;
  }
}

}  // namespace rowlock::cli
