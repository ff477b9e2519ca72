// What is to be paid, as it stands in the CSV file.
#ifndef ROWLOCK_EXAMPLE_INVOICE_HPP
#define ROWLOCK_EXAMPLE_INVOICE_HPP

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace settlement {

struct invoice {
  std::string id;
  std::string from_account;
  std::string to_account;
  std::int64_t amount_cents = 0;
};

/// The first `most` invoices of a file with the columns `invoice,from_account,to_account,
/// amount_cents` and a heading. Throws std::runtime_error that names the line that cannot be read,
/// and for a file that has fewer.
std::vector<invoice> read_invoices(const std::filesystem::path& csv, std::size_t most);

}  // namespace settlement

#endif
