// The page as one file, with its data: see cli/web/README.md.
#include "cli/serve/report_page.hpp"

#include <boost/algorithm/string/replace.hpp>
#include <stdexcept>
#include <string_view>

#include "cli/serve/web_files.hpp"

namespace rowlock::cli {

namespace {

constexpr std::string_view policy =
    R"(<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">)";

/// Each text that is replaced stands in page.html once.
void replace(std::string& page, const std::string& old, const std::string& by) {
  const auto at = page.find(old);
  if (at == std::string::npos) throw std::logic_error{"page.html does not contain " + old};
  page.replace(at, old.size(), by);
}

}  // namespace

std::string report_page(const std::string& locks, const std::string& history) {
  const auto files = web_files();
  std::string page{files.front().content};
  for (const auto& file : files.subspan(1)) {
    const std::string name{file.name};
    const std::string content{file.content};
    if (name.ends_with(".css")) {
      replace(page, R"(<link rel="stylesheet" href=")" + name + "\">",
              "<style>\n" + content + "</style>");
    } else {
      replace(page, "<script src=\"" + name + "\"></script>", "<script>\n" + content + "</script>");
    }
  }
  replace(page, R"(<meta charset="utf-8">)",
          R"(<meta charset="utf-8">)" + ('\n' + std::string{policy}));
  // No HTML parser takes a part of it for the end of the script.
  const auto harmless = boost::replace_all_copy(
      R"({"locks": )" + locks + R"(, "history": )" + history + '}', "<", "\\u003c");
  replace(page, "<!-- rowlock-data -->",
          R"(<script type="application/json" id="rowlock-data">)" + harmless + "</script>");
  return page;
}

}  // namespace rowlock::cli
