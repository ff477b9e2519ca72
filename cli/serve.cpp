// rowlock serve: a page and metrics of the lock table, over HTTP.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "cli/command_tree.hpp"
#include "cli/exit_codes.hpp"
#include "cli/exit_timer.hpp"
#include "cli/options.hpp"
#include "cli/say.hpp"
#include "cli/serve/http_server.hpp"
#include "cli/signal_queue.hpp"
#include "rowlock/clock.hpp"

namespace rowlock::cli {

namespace {

struct serve_options {
  table_options where;
  std::string listen = "127.0.0.1:9402";
  std::vector<std::string> hosts;
};

int serve_now(const serve_options& options) {
  const auto url = options.where.database();
  const listen_address address{options.listen};

  signal_queue signals;
  say_in_background();
  exit_timer timer{"the database does not answer: ended without it; nothing is lost by that"};
  const auto server = http_server::listen(address);
  const auto bound = server->bound();
  const auto rows = options.where.open(url);
  shared_reads reads{system_time(), [&server] { server->read_ended(); }};
  web_requests requests{*rows, reads, host_names{bound, options.hosts}};

  std::cout << "serving http://" << bound.text() << '/' << std::endl;
  if (!bound.is_loopback()) {
    say(bound.text() +
        " is not loopback: every client that reaches it can read keys, holders and notes; see "
        "docs/serve.md for a proxy with passwords");
  }
  const int code = exit_code::ended_by_signal(server->run(requests, signals));
  timer.set(code);  // a read may go on
  return code;
}

constexpr auto serve_help =
    R"(It only reads: no request changes anything, and a role that may SELECT from the lock table and its
_schema is enough, and from its _event for the history. Each different request is read at most once a second,
however many browsers there are. While the database is away the page says so, and goes on when it is back.

  /                             the page: what is held, waited for, has failed; a timeline of the history
  /api/locks?type=&holder=&limit=      what it reads, as JSON
  /api/history?since=&until=&type=&source=&holder=&what=&before=&limit=
  /metrics                      for Prometheus, by lock type; the 100 types with the most keys, then "other"
  /healthz                      200 if the database answers, otherwise 503

The first line of the output is the address. There are no passwords here: the default address can be
reached from this machine only. For others put a reverse proxy with authentication before it, and name
it with --host: requests with another host name are refused, because a foreign page could have made them.

Exit codes: 128 + n when signal n ended it, 69 if it cannot listen on the address. A database that is away
does not end it.

Examples:
  rowlock serve postgresql://app_reader@db/shop
  rowlock serve sqlite:///var/lib/shop/locks.db --listen 127.0.0.1:0
  rowlock serve postgresql://app_reader@db/shop --listen 0.0.0.0:9402 --host locks.example.org)";

}  // namespace

void add_serve(CLI::App& app, action& chosen) {
  const auto [serve, options] = add_table_command(
      app, chosen, "serve", "Show the locks in browsers, and give metrics", serve_now);
  add_value(*serve, "--listen ADDRESS:PORT", options->listen,
            "The address; port 0 takes a free one");
  add_value(*serve, "--host NAME", options->hosts, "Another name that browsers may call it by")
      ->allow_extra_args(false);
  serve->footer(serve_help);
}

}  // namespace rowlock::cli
