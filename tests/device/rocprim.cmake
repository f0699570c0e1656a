# rocPRIM's algorithms for rocprim_test.cpp: device and host code compiled by clang from Debian's headers, linked into
# test_device. Without the packages the test says that it was skipped.
find_path(ASMEVO_ROCPRIM_INCLUDE rocprim/rocprim.hpp)
find_path(ASMEVO_HIP_INCLUDE hip/hip_runtime.h)
find_path(ASMEVO_DEVICE_LIBS ockl.bc PATHS /usr/lib/x86_64-linux-gnu/amdgcn/bitcode)

if(NOT ASMEVO_ROCPRIM_INCLUDE OR NOT ASMEVO_HIP_INCLUDE OR NOT ASMEVO_DEVICE_LIBS)
  message(STATUS "rocPRIM, the HIP headers or the ROCm device libraries are missing: their tests will be skipped")
  target_compile_definitions(test_device PRIVATE ASMEVO_HAS_ROCPRIM=0)
  return()
endif()

# Debian's device libraries are older than gfx942: the control library that names the GPU is made here.
set(DEVICE_LIBS ${CMAKE_BINARY_DIR}/rocprim/device-libs)
file(GLOB BITCODE ${ASMEVO_DEVICE_LIBS}/*.bc)
file(MAKE_DIRECTORY ${DEVICE_LIBS})
foreach(FILE ${BITCODE})
  get_filename_component(NAME ${FILE} NAME)
  file(CREATE_LINK ${FILE} ${DEVICE_LIBS}/${NAME} SYMBOLIC)
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/rocprim/isa_942.c
     "__attribute__((address_space(4), visibility(\"hidden\"))) const int __oclc_ISA_version = 9402;\n")
set(ISA_942 ${DEVICE_LIBS}/oclc_isa_version_942.bc)
add_custom_command(
  OUTPUT ${ISA_942}
  COMMAND ${ASMEVO_CLANG} --target=amdgcn-amd-amdhsa -Xclang -mcode-object-version=none -nogpulib -c -emit-llvm ${CMAKE_BINARY_DIR}/rocprim/isa_942.c -o ${ISA_942}
  DEPENDS ${CMAKE_BINARY_DIR}/rocprim/isa_942.c VERBATIM)

foreach(NAME device block)
  set(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/device/rocprim/${NAME}.hip)
  set(OBJECT ${CMAKE_BINARY_DIR}/rocprim/${NAME}.o)
  add_custom_command(
    OUTPUT ${OBJECT}
    COMMAND ${ASMEVO_CLANG} -x hip -std=c++17 -O3 --offload-arch=gfx90a --offload-arch=gfx942 -mcode-object-version=5 -fPIC
            --rocm-path=/usr --hip-path=/usr --rocm-device-lib-path=${DEVICE_LIBS}
            -D__AMDGCN_WAVEFRONT_SIZE=64 -D__AMDGCN_WAVEFRONT_SIZE__=64 -include ${CMAKE_CURRENT_SOURCE_DIR}/device/rocprim/prelude.h
            -Wall -Wextra -Werror -c ${SOURCE} -o ${OBJECT}
    DEPENDS ${SOURCE} ${ISA_942} ${CMAKE_CURRENT_SOURCE_DIR}/device/rocprim/prelude.h
            ${CMAKE_CURRENT_SOURCE_DIR}/device/rocprim/algorithms.h ${CMAKE_CURRENT_SOURCE_DIR}/device/rocprim/fence.h
    COMMENT "Compiling rocPRIM (${NAME})" VERBATIM)
  target_sources(test_device PRIVATE ${OBJECT})
  set_source_files_properties(${OBJECT} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
endforeach()
target_sources(test_device PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/device/hip_on_emulator.cpp)
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/device/hip_on_emulator.cpp PROPERTIES COMPILE_DEFINITIONS __HIP_PLATFORM_AMD__)
target_compile_definitions(test_device PRIVATE ASMEVO_HAS_ROCPRIM=1)
