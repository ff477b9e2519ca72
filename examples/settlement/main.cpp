// settlement: worker processes settle invoices, one is killed, and the database proves that no
// money was lost and none was made.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>

#include "ledger.hpp"
#include "progress.hpp"
#include "proof.hpp"
#include "scratch_database.hpp"
#include "supervisor.hpp"

namespace settlement {
namespace {

constexpr int exit_proven = 0;
constexpr int exit_not_proven = 1;
constexpr int exit_could_not_run = 2;
constexpr int exit_usage = 64;

struct options {
  plan planned;
  std::string url;
  std::string csv = ROWLOCK_SETTLEMENT_CSV;
  std::size_t invoices = 1500;
  bool keep = false;
};

void describe(CLI::App& app, options& chosen) {
  app.description(
      "Worker processes settle invoices: each invoice under a lease, each transfer under row\n"
      "locks on its two accounts and fenced with the lease. Some workers are killed; the others\n"
      "take over. At the end the database proves that each invoice was settled exactly once and\n"
      "that the money adds up.\n"
      "Exit code: 0 proven, 1 not proven, 2 could not run, 64 usage.");
  app.add_option("--url", chosen.url,
                 "sqlite:///path/of/a/new/file or postgresql://...; a temporary SQLite file if "
                 "none is given")
      ->check([](const std::string& url) {
        const bool is_known = url.starts_with("sqlite://") || url.starts_with("postgresql://");
        return is_known ? "" : "it is sqlite:///path/of/a/new/file or postgresql://...";
      });
  app.add_option("--workers", chosen.planned.workers, "worker processes")
      ->check(CLI::Range(1U, shared_counts::most_workers))
      ->capture_default_str();
  app.add_option("--invoices", chosen.invoices, "how many of the file")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  auto* kill = app.add_option("--kill", chosen.planned.kills,
                              "how many workers are killed (SIGKILL) while they hold an invoice")
                   ->capture_default_str();
  auto* pause = app.add_option("--pause", chosen.planned.pauses,
                               "how many workers stop with an invoice in their hands until the "
                               "others have settled it")
                    ->capture_default_str();
  app.add_option("--csv", chosen.csv, "the invoices")->check(CLI::ExistingFile);
  app.add_flag("--keep", chosen.keep, "leave the tables behind, to look at them");
  app.add_flag("--without-locks", chosen.planned.without_locks,
               "the same without any lock, no worker killed: shows that the proof can fail")
      ->excludes(kill)
      ->excludes(pause);
}

int wrong_usage(const std::string& what) {
  std::cerr << "settlement: " << what << "; see --help" << std::endl;
  return exit_usage;
}

int run(const options& chosen) {
  const auto invoices = read_invoices(chosen.csv, chosen.invoices);
  catch_signals();
  const scratch_database database{chosen.url, chosen.keep};
  database.open_ledger()->create(invoices);
  std::cout << invoices.size() << " invoices, " << chosen.planned.workers << " workers, "
            << chosen.planned.kills << " to be killed, " << chosen.planned.pauses << " to pause; "
            << database.description() << std::endl;

  const shared_counts counts;
  const auto ended = supervise(chosen.planned, invoices, database, counts);
  return print_proof(std::cout, chosen.planned, invoices, ended, database, counts)
             ? exit_proven
             : exit_not_proven;
}

}  // namespace
}  // namespace settlement

int main(int argc, char** argv) {
  using namespace settlement;
  options chosen;
  try {
    CLI::App app;
    describe(app, chosen);
    try {
      app.parse(argc, argv);
      if (chosen.planned.without_locks) chosen.planned.kills = 0;
      if (std::uint64_t{chosen.planned.kills} + chosen.planned.pauses >= chosen.planned.workers) {
        throw CLI::ValidationError{"--kill and --pause",
                                   "a worker has to be left: together fewer than --workers"};
      }
    } catch (const CLI::Success& requested_text) {
      return app.exit(requested_text);
    } catch (const CLI::ExtrasError&) {
      return wrong_usage("an argument that is not known");  // and may be a URL with a password
    } catch (const CLI::ConversionError&) {                 // its words show the value
      return wrong_usage("a number that is none");
    } catch (const CLI::ParseError& problem) {
      return wrong_usage(problem.what());
    }
    return run(chosen);
  } catch (const interrupted& signal) {
    std::cerr << "\ninterrupted" << std::endl;
    return 128 + signal.signal_number();
  } catch (const std::exception& problem) {
    std::cerr << "settlement: " << problem.what() << std::endl;
    return exit_could_not_run;
  }
}
