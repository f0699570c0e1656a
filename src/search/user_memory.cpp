#include "search/user_memory.h"

#include "base/file_lock.h"
#include "base/files.h"

#include <cstdlib>
#include <thread>

namespace asmevo::search {

namespace {

using namespace std::chrono_literals;

constexpr uint64_t largest = 4 << 20; // bytes
constexpr unsigned lock_tries = 50;   // 5 s in all: whoever has it writes a small file

std::filesystem::path from_environment(const char* variable) {
  const char* value = std::getenv(variable); // NOLINT(concurrency-mt-unsafe): nothing sets the environment
  return value == nullptr ? "" : value;
}

} // namespace

std::filesystem::path user_memory_path() {
  if (const auto given = from_environment("ASMEVO_MEMORY"); !given.empty())
    return given == "none" ? "" : given;
  const std::filesystem::path rest = "asmevo/memory.json";
  if (const auto data = from_environment("XDG_DATA_HOME"); data.is_absolute()) return data / rest;
  if (const auto home = from_environment("HOME"); home.is_absolute()) return home / ".local/share" / rest;
  return {};
}

Result<Memory> read_user_memory(const std::filesystem::path& file) {
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) return Memory();
  ASMEVO_TRY(const Bytes bytes, read_file(file, largest));
  auto memory = Memory::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!memory) return failed(memory.error(), file.string());
  return memory;
}

Status add_to_user_memory(const std::filesystem::path& file, const Memory& learnt) {
  if (file.empty()) return {};
  ASMEVO_CHECK(make_folder(std::filesystem::absolute(file).parent_path()));
  std::filesystem::path lock_file = file;
  lock_file += ".lock";
  auto lock = FileLock::take(lock_file, file.string(), "file");
  for (unsigned n = 0; !lock && n < lock_tries; ++n) {
    std::this_thread::sleep_for(100ms);
    lock = FileLock::take(lock_file, file.string(), "file");
  }
  if (!lock) return failed(lock.error());
  ASMEVO_TRY(Memory memory, read_user_memory(file));
  memory.add(learnt);
  return write_file(file, memory.json().dump(1, ' ', false, gate::Json::error_handler_t::replace) + "\n");
}

} // namespace asmevo::search
