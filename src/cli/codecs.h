// Codecs by target, made when first needed; one set a thread.
#pragma once

#include "isa/codec.h"

#include <memory>
#include <string>
#include <unordered_map>

namespace asmevo::cli {

class Codecs {
 public:
  Result<isa::Codec*> get(const isa::Target& target) {
    std::unique_ptr<isa::Codec>& codec = codecs_[target.id()];
    if (!codec) {
      ASMEVO_TRY(codec, isa::Codec::create(target));
    }
    // A long run over many objects must not keep every instruction it ever saw.
    if (codec->pool_size() > 60'000) codec->renew_pool();
    return codec.get();
  }

 private:
  std::unordered_map<std::string, std::unique_ptr<isa::Codec>> codecs_;
};

} // namespace asmevo::cli
