#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>

namespace asmevo::log {

void set_up(bool verbose) {
  auto logger = spdlog::get("asmevo");
  if (!logger) logger = spdlog::stderr_logger_mt("asmevo");
  logger->set_pattern("%l: %v");
  logger->set_level(verbose ? spdlog::level::debug : spdlog::level::warn);
  spdlog::set_default_logger(logger);
}

} // namespace asmevo::log
