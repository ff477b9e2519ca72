// rowlock serve: routes, requests that are refused, and clients that keep connections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/http_client.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

std::string content_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// With a lock table in a file.
class CliServeRoutesTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(run_rowlock({"migrate", url()}).code, 0); }

  [[nodiscard]] std::string url() const {
    return "sqlite://" + (folder_.path() / "locks.db").string();
  }

  const temp_folder folder_;
};

/// For the connections of this test program.
void allow_open_files(rlim_t number) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::max(files.rlim_cur, std::min(number, files.rlim_max));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
}

std::string with_host(const std::string& host) {
  return "GET /page.css HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}

TEST_F(CliServeRoutesTest, FilesAreThoseOfThePage) {
  const served server{{url()}};
  const auto page = server.get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.body, content_of(ROWLOCK_PAGE "/page.html"));
  EXPECT_EQ(server.get("/page.html").body, page.body);
  EXPECT_EQ(server.get("/page.css").body, content_of(ROWLOCK_PAGE "/page.css"));
  std::size_t scripts = 0;
  for (std::size_t at = 0; (at = page.body.find("<script src=\"", at)) != std::string::npos;) {
    at += std::string{"<script src=\""}.size();
    const std::string name = page.body.substr(at, page.body.find('"', at) - at);
    const auto script = server.get('/' + name);
    EXPECT_EQ(script.status, 200) << name;
    EXPECT_EQ(script.headers.at("content-type"), "text/javascript; charset=utf-8");
    const bool is_ours = name != "d3.min.js";
    EXPECT_EQ(script.body, content_of(is_ours ? ROWLOCK_PAGE "/" + name : ROWLOCK_D3_FILE));
    ++scripts;
  }
  EXPECT_EQ(scripts, 14U);
  EXPECT_THAT(server.get("/d3.min.js").body, HasSubstr("Copyright"));
}

TEST_F(CliServeRoutesTest, EveryAnswerHasThePolicyOfThePage) {
  const served server{{url()}};
  for (const auto* const path : {"/", "/page.js", "/api/locks", "/api/history", "/metrics",
                                 "/healthz", "/none", "/api/locks?x"}) {
    const auto headers = server.get(path).headers;
    EXPECT_EQ(
        headers.at("content-security-policy"),
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "
        "'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    EXPECT_EQ(headers.at("x-content-type-options"), "nosniff");
    EXPECT_EQ(headers.at("referrer-policy"), "no-referrer");
    EXPECT_EQ(headers.at("cross-origin-resource-policy"), "same-origin");
  }
}

TEST_F(CliServeRoutesTest, WithoutAHistoryItSaysSo) {
  const served server{{url()}};
  const auto answer =
      json::parse(server.get("/api/history?since=2026-01-31T12:00:00.000Z&limit=5000").body);
  EXPECT_EQ(answer.at("has_history"), false);
  EXPECT_EQ(answer.at("next"), nullptr);
  EXPECT_EQ(answer.at("events"), json::array());
  EXPECT_TRUE(answer.at("at").is_string());
}

TEST_F(CliServeRoutesTest, HeadIsGetWithoutABody) {
  const served server{{url()}};
  for (const auto* const path : {"/page.css", "/api/locks", "/healthz"}) {
    const auto head = server.get(path, "HEAD");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.body, "");
    EXPECT_GT(std::stoi(head.headers.at("content-length")), 0);
  }
}

TEST_F(CliServeRoutesTest, OnlyGetAndHeadAreAnswered) {
  const served server{{url()}};
  for (const auto* const method :
       {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"}) {
    const auto refused = server.get("/api/locks", method);
    EXPECT_EQ(refused.status, 405) << method;
    EXPECT_EQ(refused.headers.at("allow"), "GET, HEAD");
  }
  EXPECT_EQ(server.get("/api/locks", "BREW").status, 400);
}

TEST_F(CliServeRoutesTest, UnknownPathsAreNotFound) {
  const served server{{url()}};
  for (const auto* const path :
       {"/none", "/%00", "/page.css%00", "/%ff%fe", "/../etc/passwd", "//page.css", "/api/locks/",
        "/%2e%2e/page.css", "/api", "page.css", "https://127.0.0.1/"}) {
    EXPECT_EQ(server.get(path).status, 404) << path;
  }
}

TEST_F(CliServeRoutesTest, ParametersThatAreWrongAreSaid) {
  const served server{{url()}};
  for (const auto* const query :
       {"locks?limit=0",
        "locks?limit=5001",
        "locks?limit=-1",
        "locks?limit=1x",
        "locks?limit=99999999999999999999",
        "locks?unknown=1",
        "locks?type=a&type=b",
        "locks?type=%00",
        "locks?holder=%ff",
        "locks?since=1",
        "history?before=x",
        "history?before=-1",
        "history?since=yesterday",
        "history?limit=5001",
        "history?since=2026-02-30T00:00:00Z",
        "history?what=stolen",
        "history?before=[]",
        "history?before=[\"2026\",\"a\",\"1\",1,\"granted\"]",
        "history?unknown=1",
        "history?before=[\"2026-01-31%2012:00:00\",\"a\",\"%00\",1,\"granted\"]"}) {
    const auto refused = server.get(std::string{"/api/"} + query);
    EXPECT_EQ(refused.status, 400) << query;
    EXPECT_THAT(json::parse(refused.body).at("error").get<std::string>(),
                AnyOf(HasSubstr("write"), HasSubstr("ask for")))
        << query;
  }
  EXPECT_EQ(server.get("/healthz?x=1").status, 400);
  EXPECT_EQ(server.get("/metrics?x=1").status, 400);
}

TEST_F(CliServeRoutesTest, OnlyKnownHostsAreAnswered) {
  const served server{{url()}, {"--listen", "127.0.0.1:0", "--host", "locks.example.org"}};
  const std::string port = ':' + std::to_string(server.port());
  for (const std::string& host : {"127.0.0.1" + port, "localhost" + port, std::string{"LocalHost"},
                                  std::string{"locks.example.org"}, "locks.example.org." + port}) {
    EXPECT_EQ(server.ask(with_host(host)).status, 200) << host;
  }
  for (const std::string& host :
       {std::string{"evil.example"}, "evil.example" + port, std::string{"127.0.0.1.evil.example"},
        std::string{"localhost.evil.example"}, std::string{"10.1.2.3"}, std::string{"[::1]"},
        std::string{"xlocks.example.org"}}) {
    EXPECT_EQ(server.ask(with_host(host)).status, 421) << host;
  }
  EXPECT_EQ(server.ask(with_host("")).status, 421);
  EXPECT_EQ(server.ask("GET / HTTP/1.1\r\n\r\n").status, 400);
  EXPECT_EQ(server.ask("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n").status, 400);
}

TEST_F(CliServeRoutesTest, AWholeAddressIsItsPathAndQuery) {
  served server{{url()}};
  const auto with_target = [](const std::string& target) {
    return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  };
  EXPECT_EQ(server.ask(with_target("http://localhost/page.css")).status, 200);
  EXPECT_EQ(server.ask(with_target("http://localhost/api/locks?limit=1")).status, 200);
  EXPECT_EQ(server.ask(with_target("http://localhost")).status, 200);
  EXPECT_EQ(server.ask(with_target("http://localhost?limit=1")).status, 200);
  EXPECT_EQ(server.ask(with_target("http://localhost/nowhere")).status, 404);
}

TEST_F(CliServeRoutesTest, OnAllInterfacesAnyAddressIsAHostAndItIsSaidWhoCanRead) {
  served server{{url()}, {"--listen", "0.0.0.0:0"}};
  EXPECT_THAT(errors_with("notes", server.process()),
              AllOf(HasSubstr("is not loopback"), HasSubstr("keys, holders and notes")));
  EXPECT_EQ(server.ask(with_host("10.1.2.3:9402")).status, 200);
  EXPECT_EQ(server.ask(with_host("[fe80::1]:9402")).status, 200);
  EXPECT_EQ(server.ask(with_host("evil.example")).status, 421);
}

TEST_F(CliServeRoutesTest, OnLoopbackNothingIsSaid) {
  served server{{url()}};
  ASSERT_EQ(server.get("/healthz").status, 200);
  server.process().send_signal(SIGTERM);
  EXPECT_EQ(server.process().wait(), 128 + SIGTERM);
  EXPECT_EQ(server.process().errors(), "");
}

TEST_F(CliServeRoutesTest, RequestsThatAreTooLongAreRefused) {
  const served server{{url()}};
  const std::string host = " HTTP/1.1\r\nHost: localhost\r\n";
  EXPECT_EQ(server.ask("GET /api/locks?type=" + std::string(9'000, 'a') + host + "\r\n").status,
            414);
  EXPECT_EQ(
      server.ask("GET /api/locks?limit=" + std::string(8'000, '0') + '1' + host + "\r\n").status,
      200);
  std::string many;
  for (int i = 0; i < 1'000; ++i) many += "X-Header-" + std::to_string(i) + ": value\r\n";
  EXPECT_EQ(server.ask("GET /" + host + many + "\r\n").status, 431);
  EXPECT_EQ(server.ask("GET /" + host + "X: " + std::string(10'000, 'a') + "\r\n\r\n").status, 400);
  EXPECT_EQ(server.ask("GET /" + host + "X: " + std::string(100'000, 'a')).status, 431);
}

TEST_F(CliServeRoutesTest, WhatIsNotHttpIsRefused) {
  const served server{{url()}};
  for (const std::string& request :
       {std::string{"\r\n\r\n"}, std::string{"GET\r\n\r\n"}, std::string{"GET / HTTP/3.7\r\n\r\n"},
        std::string{"GET /a b c HTTP/1.1\r\n\r\n"}, std::string(64, '\xff') + "\r\n\r\n",
        std::string{"\x16\x03\x01\x00\x05", 5} + "\r\n\r\n"}) {
    EXPECT_EQ(server.ask(request).status, 400) << request;
  }
}

TEST_F(CliServeRoutesTest, BodiesAreRefused) {
  const served server{{url()}};
  const std::string head = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";
  EXPECT_EQ(server.ask(head + "Content-Length: 3\r\n\r\nabc").status, 413);
  EXPECT_EQ(server.ask(head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n").status, 413);
  EXPECT_EQ(server.ask(head + "Content-Length: 0\r\n\r\n").status, 200);
}

TEST_F(CliServeRoutesTest, NoRequestIsAnsweredBehindAnother) {
  const served server{{url()}};
  const std::string request = with_host("localhost");
  const http_connection connection{server.port()};
  connection.send(request + request);
  const std::string all = connection.read_all();
  EXPECT_EQ(all.find("HTTP/1.1 200"), 0U);
  EXPECT_EQ(all.find("HTTP/1.1", 1), std::string::npos);
}

TEST_F(CliServeRoutesTest, ARequestMayComeByteByByte) {
  const served server{{url()}};
  const http_connection connection{server.port()};
  for (const char byte : with_host("localhost")) connection.send({&byte, 1});
  EXPECT_EQ(connection.reply().status, 200);
}

TEST_F(CliServeRoutesTest, RangesAndCompressionsAreNotGiven) {
  const served server{{url()}};
  const std::string ranges = "bytes=0-0" + [] {
    std::string more;
    for (int i = 0; i < 1'900; ++i) more += ",0-";
    return more;
  }();
  const auto whole = server.ask(
      "GET /d3.min.js HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip, br\r\nRANGE: " +
      ranges + "\r\n\r\n");
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.body, content_of(ROWLOCK_D3_FILE));
}

TEST_F(CliServeRoutesTest, AThousandConnectionsThatSendNothingHoldNobodyUp) {
  const served server{{url()}};
  allow_open_files(2'000);
  std::vector<http_connection> idle;
  for (int i = 0; i < 1'000; ++i) idle.emplace_back(server.port());
  EXPECT_EQ(server.get("/healthz").status, 200);
  EXPECT_EQ(server.get("/api/locks").status, 200);
  EXPECT_THAT(server.get("/metrics").body,
              Not(HasSubstr("rowlock_serve_dropped_connections_total 0\n")));
}

TEST_F(CliServeRoutesTest, AServerWithFewDescriptorsAnswersToo) {
  const words limited{"sh", "-c", R"(ulimit -n 40; exec "$0" serve "$1" --listen 127.0.0.1:0)",
                      ROWLOCK_COMMAND, url()};
  const served server{commanded, limited};
  std::vector<http_connection> idle;
  for (int i = 0; i < 200; ++i) idle.emplace_back(server.port());
  EXPECT_EQ(server.get("/healthz").status, 200);
  EXPECT_EQ(server.get("/d3.min.js").status, 200);
}

TEST_F(CliServeRoutesTest, AThousandRequestsThatNeverEndHoldNobodyUp) {
  const served server{{url()}};
  allow_open_files(2'000);
  std::vector<http_connection> slow;
  for (int i = 0; i < 1'000; ++i) {
    slow.emplace_back(server.port());
    slow.back().send("GET /healthz HTTP/1.1\r\nHost: local");
  }
  EXPECT_EQ(server.get("/healthz").status, 200);
}

TEST_F(CliServeRoutesTest, ClientsThatDoNotReadTheirAnswersHoldNobodyUp) {
  const served server{{url()}};
  std::vector<http_connection> deaf;
  constexpr int smallest_buffer = 1;
  for (int i = 0; i < 500; ++i) {
    deaf.emplace_back(server.port(), smallest_buffer);
    deaf.back().send("GET /d3.min.js HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  EXPECT_EQ(server.get("/healthz").status, 200);
  EXPECT_EQ(server.get("/d3.min.js").body, content_of(ROWLOCK_D3_FILE));
  // They are fewer than the connections that are kept, and their answers more than are kept.
  EXPECT_THAT(server.get("/metrics").body,
              Not(HasSubstr("rowlock_serve_dropped_connections_total 0\n")));
}

TEST_F(CliServeRoutesTest, AConnectionThatSendsNothingIsClosed) {
  const served server{{url()}};
  const http_connection idle{server.port()};
  EXPECT_EQ(idle.read_all(), "");
}

TEST_F(CliServeRoutesTest, SignalsEndItCleanly) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    served server{{url()}};
    const http_connection idle{server.port()};
    ASSERT_EQ(server.get("/healthz").status, 200);
    server.process().send_signal(number);
    EXPECT_EQ(idle.read_all(), "");
    EXPECT_EQ(server.process().wait(), 128 + number);
  }
}

TEST_F(CliServeRoutesTest, APortThatIsInUseIsSaid) {
  const served server{{url()}};
  const auto refused =
      run_rowlock({"serve", url(), "--listen", "127.0.0.1:" + std::to_string(server.port())});
  EXPECT_EQ(refused.code, 69);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("in use"), HasSubstr("--listen")));
}

TEST_F(CliServeRoutesTest, AnAddressOfAnotherMachineIsSaid) {
  const auto refused = run_rowlock({"serve", url(), "--listen", "192.0.2.1:0"});
  EXPECT_EQ(refused.code, 69);
  EXPECT_THAT(refused.errors, HasSubstr("has no address 192.0.2.1"));
}

TEST_F(CliServeRoutesTest, WrongAddressesAndNamesAreWrongUsage) {
  for (const auto* const address :
       {"", "9402", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "example.org:80",
        "::1:80", "[::1]", "127.0.0.1:80x", "[127.0.0.1]:80"}) {
    const auto refused = run_rowlock({"serve", url(), "--listen", address});
    EXPECT_EQ(refused.code, 64) << address;
    EXPECT_THAT(refused.errors, HasSubstr("127.0.0.1:9402")) << address;
  }
  for (const auto* const name : {"", "http://a", "a:80", "a b"}) {
    const auto refused = run_rowlock({"serve", url(), "--listen", "127.0.0.1:0", "--host", name});
    EXPECT_EQ(refused.code, 64) << name;
  }
}

TEST_F(CliServeRoutesTest, MetricsAreThoseThatPrometheusReads) {
  const served server{{url()}};
  ASSERT_EQ(server.get("/none").status, 404);
  ASSERT_EQ(server.get("/api/locks").status, 200);
  const auto text = server.get("/metrics").body;
  EXPECT_THAT(text, HasSubstr("rowlock_serve_requests_total{path=\"other\",code=\"404\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("rowlock_serve_requests_total{path=\"/api/locks\",code=\"200\"} 1\n"));
  const auto file = folder_.path() / "metrics";
  std::ofstream{file} << text;
  const auto checked = run({"sh", "-c", "promtool check metrics <\"$0\" 2>&1", file.string()});
  EXPECT_EQ(checked.code, 0) << checked.output << text;
  EXPECT_EQ(checked.output, "");
}

}  // namespace

}  // namespace rowlock::tests
