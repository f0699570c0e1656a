# asmevo_library(<folder> DEPENDS <folders...> [PRIVATE <targets...>]): the library of one folder under src/.
# A folder may depend only on folders above it in docs/architecture.md.
function(asmevo_library NAME)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE;PUBLIC" ${ARGN})
  file(GLOB_RECURSE SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/*.cpp)
  add_library(asmevo_${NAME} STATIC ${SOURCES})
  target_include_directories(asmevo_${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM ARG_DEPENDS PREPEND asmevo_)
  target_link_libraries(asmevo_${NAME} PUBLIC ${ARG_DEPENDS} ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()

# asmevo_test(<folder> DEPENDS <folders...>): one GoogleTest program for a folder under tests/.
function(asmevo_test NAME)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  file(GLOB SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/*_test.cpp)
  if(NOT SOURCES)
    return()
  endif()
  add_executable(test_${NAME} ${SOURCES})
  add_dependencies(test_${NAME} kernels)
  list(TRANSFORM ARG_DEPENDS PREPEND asmevo_)
  target_link_libraries(test_${NAME} PRIVATE ${ARG_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(test_${NAME} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_options(test_${NAME} PRIVATE -O1) # GoogleTest's macros take long to optimise and gain nothing by it
  target_compile_definitions(test_${NAME} PRIVATE ASMEVO_SOURCE_DIR="${CMAKE_SOURCE_DIR}" ASMEVO_BINARY_DIR="${CMAKE_BINARY_DIR}")
  gtest_discover_tests(test_${NAME} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
endfunction()
