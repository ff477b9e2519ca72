// The lock type of a key, as the value of a label.
#ifndef ROWLOCK_PROMETHEUS_TYPE_LABEL_HPP
#define ROWLOCK_PROMETHEUS_TYPE_LABEL_HPP

#include <string>
#include <string_view>

namespace rowlock::detail {

/// Without scope and number, at most 128 bytes of `A-Z a-z 0-9 _ . : -`, never empty. The name of a
/// table may have any bytes; a single one that is not UTF-8 would make Prometheus reject the
/// scrape.
std::string type_label(std::string_view type);

}  // namespace rowlock::detail

#endif
