// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/launcher/session.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <poll.h>
#include <thread>
#include <unistd.h>

#include "prism/abi/plugin.h"
#include "prism/host/bind.hpp"
#include "prism/host/sinks.hpp"

namespace prism::test {
namespace {

prism_str_t text(const std::string& value) {
  return {value.data(), value.size()};
}

std::vector<prism_str_t> texts(const std::vector<std::string>& values) {
  std::vector<prism_str_t> result;
  for (const std::string& value : values) {
    result.push_back(text(value));
  }
  return result;
}

Answer answer(prism_status_t code, const host::ErrorSink& sink) {
  return {code, code == PRISM_STATUS_OK ? "" : sink.message(code)};
}

}  // namespace

const prism_launcher_t* load(const std::string& plugin) {
  void* library = ::dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    std::abort();
  }
  using Entry = const prism_plugin_t*();
  auto* entry = reinterpret_cast<Entry*>(::dlsym(library, PRISM_PLUGIN_ENTRY));
  const std::string id = PRISM_LAUNCHER_1;
  const void* table = entry()->get_interface(text(id));
  const std::string problem = host::check_launcher(table);
  if (!problem.empty()) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    std::abort();
  }
  return static_cast<const prism_launcher_t*>(table);
}

const prism_launcher_t* built_launcher() {
  static const prism_launcher_t* table = load(PRISM_LAUNCHER_PLUGIN);
  return table;
}

Answer Session::open(const std::string& isolation) {
  host::ErrorSink sink;
  prism_option_value_t value{};
  value.type = PRISM_OPTION_STRING;
  value.set = 1;
  value.u.text = text(isolation);
  return answer(launcher_->open(&value, 1, &session_, sink.c()), sink);
}

void Session::close() {
  if (session_ != nullptr) {
    launcher_->close(session_);
    session_ = nullptr;
  }
}

std::string Session::describe() {
  host::TextSink sink;
  launcher_->describe(session_, sink.c());
  return sink.text();
}

Answer Session::spawn(const Spec& spec, uint64_t& process) {
  const auto argv = texts(spec.argv);
  const auto env = texts(spec.env);
  prism_launch_spec_t c{};
  c.struct_size = sizeof(c);
  c.argv = argv.data();
  c.argc = argv.size();
  c.env = env.data();
  c.envc = env.size();
  c.cwd = text(spec.cwd);
  c.stdout_path = text(spec.out);
  c.stderr_path = text(spec.err);
  c.cores = spec.cores.data();
  c.core_count = spec.cores.size();
  c.fds = spec.fds.data();
  c.fd_count = spec.fds.size();
  c.node = text(spec.node);
  host::ErrorSink sink;
  return answer(launcher_->spawn(session_, &c, &process, sink.c()), sink);
}

Answer Session::signal(uint64_t process, int signo) {
  host::ErrorSink sink;
  return answer(launcher_->signal(session_, process, signo, sink.c()), sink);
}

int Session::event_fd() {
  return launcher_->event_fd(session_);
}

Answer Session::next_exit(prism_process_exit_t& ended) {
  ended = {};
  ended.struct_size = sizeof(ended);
  host::ErrorSink sink;
  return answer(launcher_->next_exit(session_, &ended, sink.c()), sink);
}

Answer Session::wait_exit(prism_process_exit_t& ended) {
  pollfd polled{event_fd(), POLLIN, 0};
  while (::poll(&polled, 1, 60'000) < 0 && errno == EINTR) {
  }
  return next_exit(ended);
}

ScratchDir::ScratchDir() {
  std::string pattern = std::filesystem::temp_directory_path() / "prism-launcher-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    std::abort();
  }
  dir_ = pattern;
}

ScratchDir::~ScratchDir() {
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string new_marker() {
  static std::atomic<int> last = 0;
  return "PRISM_TEST_MARKER=" + std::to_string(::getpid()) + "." + std::to_string(++last) + "!";
}

std::vector<pid_t> marked_processes(const std::string& marker, const std::string& name) {
  std::vector<pid_t> found;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator("/proc", error);
       entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string pid = entry->path().filename();
    if (!std::all_of(pid.begin(), pid.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      continue;
    }
    // A zombie has no environment any more.
    const bool marked = read_file(entry->path() / "environ").find(marker) != std::string::npos;
    if (marked && (name.empty() || read_file(entry->path() / "comm") == name + "\n")) {
      found.push_back(std::stoi(pid));
    }
  }
  return found;
}

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace prism::test
