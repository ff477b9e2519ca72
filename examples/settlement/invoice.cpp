// Reads invoices from a CSV file.
#include <charconv>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "ledger.hpp"

namespace settlement {
namespace {

constexpr std::string_view heading = "invoice,from_account,to_account,amount_cents";

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  for (;;) {
    const auto comma = line.find(',');
    fields.emplace_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

std::optional<invoice> parse(std::string_view line) {
  auto fields = fields_of(line);
  if (fields.size() != 4 || fields[0].empty() || fields[1] == fields[2]) return {};
  std::int64_t cents = 0;
  const auto& digits = fields[3];
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), cents);
  if (problem != std::errc{} || end != digits.data() + digits.size() || cents <= 0) return {};
  return invoice{.id = std::move(fields[0]),
                 .from_account = std::move(fields[1]),
                 .to_account = std::move(fields[2]),
                 .amount_cents = cents};
}

[[noreturn]] void fail(const std::filesystem::path& csv, const std::string& problem) {
  throw std::runtime_error{csv.string() + ": " + problem};
}

}  // namespace

std::vector<invoice> read_invoices(const std::filesystem::path& csv, std::size_t most) {
  std::ifstream file{csv};
  std::string line;
  if (!std::getline(file, line)) fail(csv, "cannot be read");
  if (line != heading) fail(csv, "the first line is not `" + std::string{heading} + "`");

  std::vector<invoice> invoices;
  while (invoices.size() < most && std::getline(file, line)) {
    auto next = parse(line);
    if (!next) {
      fail(csv, "line " + std::to_string(invoices.size() + 2) +
                    " is not an id, two different accounts and an amount");
    }
    invoices.push_back(*std::move(next));
  }
  if (invoices.size() < most) {
    fail(csv,
         "has only " + std::to_string(invoices.size()) + " invoices, not " + std::to_string(most));
  }
  return invoices;
}

}  // namespace settlement
