# The emulator's handlers a second time, for CPUs with AVX-512, which opcode_table.cpp chooses at run time.
#
# Both builds have the same inline functions, of ours and of the standard library, and a linker that keeps one of each
# would give code for AVX-512 to everybody. So the second build is linked into one object, with all its symbols made local but
# for the function by which it is entered.
function(asmevo_avx512_handlers TARGET)
  cmake_parse_arguments(ARG "" "" "SOURCES;OPTIONS" ${ARGN})
  set(OPTIONS -march=x86-64-v4 ${ARG_OPTIONS} $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>) # unique symbols cannot be made local
  add_library(${TARGET}_avx512 OBJECT ${ARG_SOURCES})
  target_include_directories(${TARGET}_avx512 PRIVATE $<TARGET_PROPERTY:${TARGET},INCLUDE_DIRECTORIES>)
  target_compile_definitions(${TARGET}_avx512 PRIVATE $<TARGET_PROPERTY:${TARGET},COMPILE_DEFINITIONS> ASMEVO_HANDLERS_AVX512)
  target_compile_options(${TARGET}_avx512 PRIVATE ${OPTIONS})
  asmevo_shared_headers(${TARGET}_avx512_headers HEADERS ${ASMEVO_STANDARD_HEADERS} LINK fmt::fmt spdlog::spdlog Threads::Threads
                        OPTIONS ${OPTIONS})
  asmevo_use_shared_headers(${TARGET}_avx512 ${TARGET}_avx512_headers)
  set(TOGETHER ${CMAKE_CURRENT_BINARY_DIR}/${TARGET}_avx512_all.o)
  set(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${TARGET}_avx512.o)
  add_custom_command(
    OUTPUT ${OUTPUT}
    COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${TOGETHER} $<TARGET_OBJECTS:${TARGET}_avx512>
    COMMAND ${CMAKE_OBJCOPY} --keep-global-symbol=asmevo_find_handler_avx512 ${TOGETHER} ${OUTPUT}
    DEPENDS ${TARGET}_avx512 $<TARGET_OBJECTS:${TARGET}_avx512>
    COMMAND_EXPAND_LISTS COMMENT "Handlers for AVX-512" VERBATIM)
  target_sources(${TARGET} PRIVATE ${OUTPUT})
  set_source_files_properties(${OUTPUT} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_compile_definitions(${TARGET} PRIVATE ASMEVO_HAVE_AVX512_HANDLERS)
endfunction()
