# Compiler settings that hold for every target of the project.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Without these two, ccache leaves files alone that use precompiled headers.
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Wundef)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these inside libstdc++ and fmt when it inlines; clang covers the same mistakes.
  add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds -Wno-restrict -Wno-dangling-pointer -Wno-free-nonheap-object)
  # Half a gigabyte before the compiler first looks for what it can free: a tenth of its time.
  add_compile_options("SHELL:--param ggc-min-heapsize=524288")
endif()

# Where LLVM's linker is installed: it takes a fifth of the time.
find_program(ASMEVO_LLD NAMES ld.lld PATHS /usr/lib/llvm-22/bin NO_DEFAULT_PATH DOC "LLVM 22's linker")
if(ASMEVO_LLD)
  get_filename_component(LLD_FOLDER ${ASMEVO_LLD} DIRECTORY)
  add_link_options(-B${LLD_FOLDER} -fuse-ld=lld)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12's std::stable_sort calls std::get_temporary_buffer, which C++20 deprecates.
  add_compile_options(-Wno-deprecated-declarations)
endif()

if(ASMEVO_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(ASMEVO_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
