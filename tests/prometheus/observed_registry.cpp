// A registry of prometheus-cpp with an observer, and what it exposes.
#include "prometheus/observed_registry.hpp"

#include <prometheus/text_serializer.h>

#include <chrono>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "support/patience.hpp"

namespace rowlock::tests {

namespace {

labels labels_of(const ::prometheus::ClientMetric& series) {
  labels found;
  for (const auto& each : series.label) found[each.name] = each.value;
  return found;
}

std::optional<::prometheus::ClientMetric> find(const ::prometheus::Registry& registry,
                                               const std::string& name, const labels& wanted) {
  for (const auto& family : registry.Collect()) {
    if (family.name != name) continue;
    for (const auto& series : family.metric) {
      if (labels_of(series) == wanted) return series;
    }
  }
  return std::nullopt;
}

::prometheus::ClientMetric find_one(const ::prometheus::Registry& registry, const std::string& name,
                                    const labels& wanted) {
  const auto found = find(registry, name, wanted);
  if (!found) throw std::runtime_error{name + " has no series with such labels"};
  return *found;
}

}  // namespace

double observed_registry::counter(const std::string& name, const labels& wanted) const {
  return find_one(*registry_, name, wanted).counter.value;
}

histogram_values observed_registry::histogram(const std::string& name, const labels& wanted) const {
  const auto found = find_one(*registry_, name, wanted).histogram;
  return {.count = found.sample_count, .sum = found.sample_sum};
}

void observed_registry::await_counter(const std::string& name, const labels& wanted,
                                      double value) const {
  const auto has_value = [&] {
    const auto found = find(*registry_, name, wanted);
    return found && found->counter.value == value;
  };
  await_that(has_value, {}, [&] { return name; });
}

std::string observed_registry::text() const {
  return ::prometheus::TextSerializer{}.Serialize(registry_->Collect());
}

std::set<std::string> observed_registry::names() const {
  std::set<std::string> found;
  std::istringstream lines{text()};
  for (std::string word, kind, name; lines >> word;) {
    if (word == "#" && lines >> kind >> name && kind == "TYPE") found.insert(name);
  }
  return found;
}

std::set<std::string> observed_registry::values_of(const std::string& label) const {
  std::set<std::string> found;
  for (const auto& family : registry_->Collect()) {
    for (const auto& series : family.metric) {
      const auto all = labels_of(series);
      if (const auto value = all.find(label); value != all.end()) found.insert(value->second);
    }
  }
  return found;
}

void observed_registry::observe_each_event(const std::string& type) const {
  const lock_key key{.type = type, .source_id = "a"};
  observer_->acquired({.key = key});
  observer_->refused({.refusal = {.key = key}});
  observer_->waited({.key = key});
  observer_->expired_takeover({.key = key});
  observer_->renewed({.key = key});
  observer_->lost({.key = key});
  observer_->released({.key = key});
  observer_->fault({.key = key});
  observer_->weak_setting({});
  observer_->missed(1);
  for (const auto work :
       {transaction_work::row_lock, transaction_work::entity_lock,
        transaction_work::optimistic_commit, transaction_work::fence, transaction_work::retry}) {
    for (const auto result :
         {transaction_result::granted, transaction_result::refused, transaction_result::committed,
          transaction_result::rolled_back, transaction_result::conflict}) {
      observer_->transaction(
          {.work = work, .result = result, .key = key, .refusal = refusal{.key = key}});
    }
  }
}

}  // namespace rowlock::tests
