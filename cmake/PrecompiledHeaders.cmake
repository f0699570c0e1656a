# The headers of others that most files include, compiled once for many targets: a third of the time of a build from
# nothing went into reading them again and again. A file must still include what it uses: the clang build of
# ./check --full is without them and finds what is missing.
option(ASMEVO_PCH "Compile the headers that most files include once" ON)

# asmevo_shared_headers(<owner> HEADERS <headers...> LINK <targets...> [OPTIONS <compiler options...>]): makes the owner of such
# headers. Who uses them must be compiled with the same options, or the compiler says so.
function(asmevo_shared_headers OWNER)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK;OPTIONS" ${ARGN})
  if(NOT ASMEVO_PCH)
    return()
  endif()
  set(SOURCE ${CMAKE_CURRENT_BINARY_DIR}/${OWNER}.cpp) # CMake wants a file that uses them
  file(CONFIGURE OUTPUT ${SOURCE} CONTENT "")
  add_library(${OWNER} OBJECT ${SOURCE})
  target_link_libraries(${OWNER} PRIVATE ${ARG_LINK})
  target_compile_options(${OWNER} PRIVATE ${ARG_OPTIONS} ${ASMEVO_PCH_OPTIONS})
  target_precompile_headers(${OWNER} PRIVATE ${ARG_HEADERS})
endfunction()

# asmevo_use_shared_headers(<target> <owner>)
function(asmevo_use_shared_headers TARGET OWNER)
  if(ASMEVO_PCH)
    target_precompile_headers(${TARGET} REUSE_FROM ${OWNER})
    target_compile_options(${TARGET} PRIVATE ${ASMEVO_PCH_OPTIONS})
  endif()
endfunction()

# So that ccache can tell what was included (its manual, "Precompiled headers").
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(ASMEVO_PCH_OPTIONS -fpch-preprocess)
else()
  set(ASMEVO_PCH_OPTIONS "SHELL:-Xclang -fno-pch-timestamp")
endif()

set(ASMEVO_STANDARD_HEADERS <algorithm> <array> <bit> <charconv> <cmath> <cstdint> <cstring> <expected> <filesystem> <functional>
    <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <utility>
    <variant> <vector> <fmt/format.h>)
set(ASMEVO_COMMON_HEADERS ${ASMEVO_STANDARD_HEADERS} <fmt/ranges.h> <nlohmann/json.hpp>)
