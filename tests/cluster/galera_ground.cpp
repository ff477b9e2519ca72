// Workers on all nodes of a Galera cluster, whose nodes die, stand still, are cut off, and lag.
#include "cluster/galera_ground.hpp"

#include <chrono>
#include <functional>
#include <utility>

#include "cli/database_url.hpp"
#include "cluster/cluster_test.hpp"

namespace rowlock::tests {

namespace {

using std::chrono::milliseconds;

class galera_ground final : public proving_ground {
 public:
  galera_ground() {
    cluster().empty_database();
    migrate(url());
  }

  [[nodiscard]] std::string name() const override { return "Galera"; }
  [[nodiscard]] std::string url() const override { return cluster().url(0); }
  [[nodiscard]] std::string url_of(std::size_t slot) const override {
    return cluster().url(slot % galera_cluster::size);
  }

  void add_faults(chaos& all, unsigned crashes) override {
    const auto add = [&](const char* what, milliseconds lasting, auto begin, auto end) {
      all.add_paced(what, crashes,
                    [this, &all, lasting, begin, end] { trouble(all, lasting, begin, end); });
    };
    add("nodes killed", milliseconds{3000}, &galera_cluster::kill, &galera_cluster::restart);
    add("nodes cut off", milliseconds{500}, &galera_cluster::isolate, &galera_cluster::reconnect);
    add("nodes stopped", milliseconds{500}, &galera_cluster::freeze, &galera_cluster::thaw);
    all.add("appliers held", [this, &all] {
      trouble(all, milliseconds{100 + all.draw(900)}, &galera_cluster::hold_appliers,
              &galera_cluster::release_appliers);
    });
  }

  [[nodiscard]] std::size_t connections() const override {
    std::int64_t all = 0;
    for (std::size_t node = 0; node < galera_cluster::size; ++node) {
      all += cluster().connect(node).number(
          "select count(*) from information_schema.processlist"
          " where user = 'root' and id <> connection_id()");
    }
    return static_cast<std::size_t>(all);
  }

 private:
  /// One node at a time: two that are left can still agree.
  template <class Begin, class End>
  void trouble(chaos& all, milliseconds lasting, Begin begin, End end) {
    end_trouble();
    const auto node = static_cast<std::size_t>(all.draw(galera_cluster::size));
    std::invoke(begin, cluster(), node);
    end_ = [node, end] { std::invoke(end, cluster(), node); };
    all.later(lasting, [this, which = ++last_] {
      if (which == last_) end_trouble();
    });
  }

  void end_trouble() {
    if (const auto end = std::exchange(end_, nullptr)) end();
  }

  std::function<void()> end_;
  unsigned last_ = 0;
};

}  // namespace

std::unique_ptr<proving_ground> make_galera_ground() { return std::make_unique<galera_ground>(); }

}  // namespace rowlock::tests
