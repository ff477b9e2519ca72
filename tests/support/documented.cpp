// Code as a document shows it.
#include "support/documented.hpp"

#include <fstream>
#include <stdexcept>

namespace rowlock::tests {

std::string documented(const documented_place& place, const std::string& language,
                       const std::string& words) {
  std::ifstream file{place.file};
  std::string section;
  std::string block;
  bool is_inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ") || line.starts_with("### ")) {
      section = line.substr(line.find(' ') + 1);
    }
    if (section != place.heading) continue;
    if (is_inside && line == "```") {
      is_inside = false;
      if (block.find(words) != std::string::npos) return block;
    } else if (is_inside) {
      block += line + '\n';
    } else if (line == "```" + language) {
      is_inside = true;
      block.clear();
    }
  }
  throw std::runtime_error{place.file + " has no such block below " + place.heading};
}

std::string with_each(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace rowlock::tests
