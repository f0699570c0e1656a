# Several files of one target compiled as one: what their headers say is read, and their templates made, once for all of them.
# Names in unnamed namespaces must differ within a target for that; files where that would be a nuisance stand alone
# (asmevo_alone). The clang build of ./check --full has every file on its own.
option(ASMEVO_UNITY "Compile several files as one" ON)
function(asmevo_compile_together TARGET)
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ${ASMEVO_UNITY} UNITY_BUILD_BATCH_SIZE 6)
endfunction()

# asmevo_alone(<files...>)
function(asmevo_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# asmevo_library(<folder> DEPENDS <folders...> [PRIVATE <targets...>] [OWN_OPTIONS]): the library of one folder under src/.
# A folder may depend only on folders above it in docs/architecture.md. OWN_OPTIONS: it is compiled with other options than
# the rest, so cannot share precompiled headers with it.
function(asmevo_library NAME)
  cmake_parse_arguments(ARG "OWN_OPTIONS" "" "DEPENDS;PRIVATE;PUBLIC" ${ARGN})
  file(GLOB_RECURSE SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/*.cpp)
  add_library(asmevo_${NAME} STATIC ${SOURCES})
  target_include_directories(asmevo_${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM ARG_DEPENDS PREPEND asmevo_)
  target_link_libraries(asmevo_${NAME} PUBLIC ${ARG_DEPENDS} ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  if(NOT ARG_OWN_OPTIONS)
    asmevo_use_shared_headers(asmevo_${NAME} library_headers)
    asmevo_compile_together(asmevo_${NAME})
  endif()
endfunction()

# How what uses GoogleTest is compiled: its macros take long to optimise and gain nothing by it.
set(ASMEVO_TEST_OPTIONS -O1)
function(asmevo_test_options TARGET)
  target_compile_options(${TARGET} PRIVATE ${ASMEVO_TEST_OPTIONS})
  asmevo_use_shared_headers(${TARGET} test_headers)
endfunction()

# asmevo_test(<folder> DEPENDS <folders...> [COST <seconds>] [ALONE [<files...>]]): one GoogleTest program for a folder under tests/. COST is about
# what its longest test takes: where CTest has not seen a run yet, programs with long tests are started first, so that no
# core waits for them in the end. ALONE: these files, without any: none is compiled together with others.
function(asmevo_test NAME)
  cmake_parse_arguments(ARG "" "COST" "DEPENDS;ALONE" ${ARGN})
  if(NOT ARG_COST)
    set(ARG_COST 0)
  endif()
  file(GLOB SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/*_test.cpp)
  if(NOT SOURCES)
    return()
  endif()
  add_executable(test_${NAME} ${SOURCES})
  add_dependencies(test_${NAME} kernels)
  list(TRANSFORM ARG_DEPENDS PREPEND asmevo_)
  target_link_libraries(test_${NAME} PRIVATE ${ARG_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(test_${NAME} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  asmevo_test_options(test_${NAME})
  if(ARG_ALONE)
    list(TRANSFORM ARG_ALONE REPLACE "(.+)" "${NAME}/\\1_test.cpp")
    asmevo_alone(${ARG_ALONE})
  endif()
  if(NOT "ALONE" IN_LIST ARG_KEYWORDS_MISSING_VALUES)
    asmevo_compile_together(test_${NAME})
    target_compile_options(test_${NAME} PRIVATE -Wno-shadow) # of names in other files; the clang build sees the rest
  endif()
  target_compile_definitions(test_${NAME} PRIVATE ASMEVO_SOURCE_DIR="${CMAKE_SOURCE_DIR}" ASMEVO_BINARY_DIR="${CMAKE_BINARY_DIR}")
  gtest_discover_tests(test_${NAME} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                        PROPERTIES TIMEOUT 600 COST ${ARG_COST} ENVIRONMENT ASMEVO_MEMORY=none)
endfunction()
