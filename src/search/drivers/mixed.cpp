#include "search/drivers/mixed.h"

#include <algorithm>
#include <cmath>

namespace asmevo::search {

namespace {

constexpr double curiosity = 0.1;
constexpr double first_guess = 0.5, guess_weight = 4; // of the first driver; each further one half of it

struct Member {
  std::unique_ptr<Driver> driver;
  double guess = 0, tries = 0, reward = 0;
  double worth(double all) const {
    return (guess * guess_weight + reward) / (guess_weight + tries) +
           curiosity * std::sqrt(std::log(1 + all) / (1 + tries));
  }
};

class Mixed : public Driver {
 public:
  explicit Mixed(std::vector<std::unique_ptr<Driver>> drivers) {
    double guess = first_guess;
    for (auto& d : drivers) {
      members_.push_back({std::move(d), guess});
      guess /= 2;
    }
  }
  std::string_view name() const override { return "mixed"; }

  std::optional<Suggestion> propose(const Lineage& lineage, const Assignment& a) override {
    double all = 0;
    for (const Member& m : members_) all += m.tries;
    std::vector<size_t> order(members_.size());
    for (size_t n = 0; n < order.size(); ++n) order[n] = n;
    std::ranges::stable_sort(order, std::greater{}, [&](size_t n) { return members_[n].worth(all); });
    for (const size_t n : order)
      if (auto s = members_[n].driver->propose(lineage, a)) {
        ++members_[n].tries;
        s->driver = members_[n].driver->name();
        whose_[s->edit.json()] = n;
        return s;
      }
    return std::nullopt;
  }

  // All of them learn what is refused and what is slow.
  void learn(const Outcome& o) override {
    for (Member& m : members_) m.driver->learn(o);
    const auto whose = whose_.find(o.suggestion.edit.json());
    if (whose == whose_.end()) return;
    members_[whose->second].reward += reward_of(o);
    whose_.erase(whose);
  }

 private:
  std::vector<Member> members_;
  std::map<std::string, size_t> whose_; // until their outcome is known
};

} // namespace

std::unique_ptr<Driver> make_mixed(std::vector<std::unique_ptr<Driver>> drivers) {
  return std::make_unique<Mixed>(std::move(drivers));
}

} // namespace asmevo::search
