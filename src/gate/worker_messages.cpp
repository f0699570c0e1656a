#include "gate/worker_messages.h"

#include <stdexcept>

namespace asmevo::gate {

Json message_of(const Evaluation& e) {
  Json j = e.json();
  j["bytes"] = Json::binary(e.object);
  return j;
}

Evaluation evaluation_in(const Json& message) {
  Evaluation e = Evaluation::from_json(message);
  e.object = message.at("bytes").get_binary();
  return e;
}

Json message_of(std::span<const Proposed::Step> chain) {
  Json list = Json::array();
  for (const Proposed::Step& step : chain) list.push_back({{"edit", step.edit.json()}, {"node", step.node}});
  return list;
}

std::vector<Proposed::Step> chain_in(const Json& message) {
  std::vector<Proposed::Step> chain;
  for (const Json& step : message) {
    auto edit = program::Edit::parse(step.at("edit").get<std::string>());
    if (!edit) throw std::runtime_error(edit.error().message);
    chain.push_back({*std::move(edit), step.at("node")});
  }
  return chain;
}

} // namespace asmevo::gate
