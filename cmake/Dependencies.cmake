# Everything comes from Debian packages (the list is in ./quickstart's install step, tools/packages.txt).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(tomlplusplus REQUIRED) # its headers only
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)

# Debian's version file of LLVM 22 matches major.minor only.
set(LLVM_DIR /usr/lib/llvm-22/lib/cmake/llvm CACHE PATH "CMake files of LLVM 22")
find_package(LLVM 22.1 REQUIRED CONFIG)

# LLVM's headers, for the few .cpp files that may include them; SYSTEM keeps our warnings off them.
add_library(asmevo_llvm INTERFACE)
target_include_directories(asmevo_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(asmevo_llvm INTERFACE LLVM)
target_link_directories(asmevo_llvm INTERFACE ${LLVM_LIBRARY_DIRS})

add_library(asmevo_lld INTERFACE)
target_link_libraries(asmevo_lld INTERFACE asmevo_llvm ${LLVM_LIBRARY_DIRS}/liblldELF.a ${LLVM_LIBRARY_DIRS}/liblldCommon.a
                      LLVM ZLIB::ZLIB PkgConfig::ZSTD)
