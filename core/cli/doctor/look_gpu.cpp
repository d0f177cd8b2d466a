// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <dlfcn.h>
#include <string>
#include <unistd.h>

#include "core/cli/doctor/child.hpp"
#include "core/cli/doctor/look.hpp"

namespace prism::cli {
namespace {

/// A function of a loaded library; null when it lacks it.
template <typename Function>
Function* function_of(void* library, const char* name) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym is for
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

void* open_library(int output, const char* name) {
  void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    ::dprintf(output, "error=%s\n", ::dlerror());
  }
  return library;
}

/// Writes "driver=13.0", "gpu=NAME, BYTES bytes" for each, or "error=".
int ask_driver(int output) {
  void* const cuda = open_library(output, "libcuda.so.1");
  if (cuda == nullptr) {
    return 0;
  }
  auto* const init = function_of<int(unsigned)>(cuda, "cuInit");
  auto* const version_of = function_of<int(int*)>(cuda, "cuDriverGetVersion");
  auto* const count_of = function_of<int(int*)>(cuda, "cuDeviceGetCount");
  auto* const name_of = function_of<int(char*, int, int)>(cuda, "cuDeviceGetName");
  auto* const memory_of = function_of<int(size_t*, int)>(cuda, "cuDeviceTotalMem_v2");
  if (init == nullptr || version_of == nullptr || count_of == nullptr || name_of == nullptr ||
      memory_of == nullptr) {
    ::dprintf(output, "error=libcuda.so.1 lacks functions of the driver interface\n");
    return 0;
  }
  int version = 0;
  version_of(&version);
  ::dprintf(output, "driver=%d.%d\n", version / 1000, version % 1000 / 10);
  const int code = init(0);
  int count = 0;
  if (code != 0 || count_of(&count) != 0) {
    ::dprintf(output, "error=cuInit gives error %d\n", code);
    return 0;
  }
  ::dprintf(output, "count=%d\n", count);
  for (int device = 0; device < count; ++device) {
    std::array<char, 128> name{};
    size_t bytes = 0;
    if (name_of(name.data(), static_cast<int>(name.size()) - 1, device) == 0 &&
        memory_of(&bytes, device) == 0) {
      ::dprintf(output, "gpu=%s, %s\n", name.data(), in_bytes(bytes).c_str());
    }
  }
  return 0;
}

int ask_nccl(int output, const char* path) {
  void* const nccl = open_library(output, path);
  if (nccl == nullptr) {
    return 0;
  }
  auto* const version_of = function_of<int(int*)>(nccl, "ncclGetVersion");
  int version = 0;
  if (version_of == nullptr || version_of(&version) != 0) {
    ::dprintf(output, "error=%s gives no version\n", path);
    return 0;
  }
  // Since 2.9: 10000 * major + 100 * minor + patch.
  ::dprintf(output, "version=%d.%d.%d\n", version / 10000, version % 10000 / 100, version % 100);
  return 0;
}

/// What went wrong with a library that was tried in a child.
std::string trouble(const ChildResult& answer) {
  const std::string error = line_value(answer.output, "error", '=');
  return error.empty() ? answer.ending : error;
}

}  // namespace

void look_at_gpu(const DoctorOptions& options, Facts& facts) {
  const ChildResult answer = in_child(ask_driver, options.timeout);
  const std::string driver = line_value(answer.output, "driver", '=');
  const std::string count = line_value(answer.output, "count", '=');
  Fact fact{.id = "gpu.driver"};
  if (answer.ok && !count.empty() && count != "0") {
    fact.text = "CUDA " + driver + ", " + count + " x " + line_value(answer.output, "gpu", '=');
    fact.number = static_cast<uint64_t>(std::stoul(count));
  } else {
    fact.state = State::Absent;
    fact.text = count == "0" ? "CUDA " + driver + ", no device" : trouble(answer);
    fact.consequence = "no rank runs on a GPU; ranks on the CPU and predictions from them do";
  }
  facts.push_back(fact);

  const ChildResult nvcc = run_program({"nvcc", "--version"}, options.timeout);
  Fact toolkit{.id = "gpu.toolkit"};
  const size_t at = nvcc.output.find("release ");
  if (nvcc.ok && at != std::string::npos) {
    toolkit.text = "CUDA " + nvcc.output.substr(at + 8, nvcc.output.find(',', at) - at - 8);
  } else {
    toolkit.state = State::Absent;
    toolkit.text = "nvcc: " + (nvcc.ok ? "no version in its answer" : nvcc.ending);
    toolkit.consequence = "plugins that use CUDA cannot be built here; built ones work";
  }
  facts.push_back(toolkit);
}

void look_at_nccl(const DoctorOptions& options, const std::string& beside_torch, Facts& facts) {
  std::string tried;
  for (const std::string& path : {std::string("libnccl.so.2"), beside_torch}) {
    if (path.empty()) {
      continue;
    }
    const ChildResult answer =
        in_child([&](int output) { return ask_nccl(output, path.c_str()); }, options.timeout);
    const std::string version = line_value(answer.output, "version", '=');
    if (answer.ok && !version.empty()) {
      const bool system = path != beside_torch;
      facts.push_back(
          {.id = "gpu.nccl", .text = version + (system ? ", of the system" : ", beside torch")});
      return;
    }
    tried += (tried.empty() ? "" : "; ") + trouble(answer);
  }
  facts.push_back({.id = "gpu.nccl",
                   .state = State::Absent,
                   .text = tried,
                   .consequence = "no ranks that communicate through NCCL"});
}

}  // namespace prism::cli
