// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/process_state.hpp"

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

#include "sdk/child/supervisor.hpp"

namespace prism::conformance {
namespace {

std::map<int, std::pair<uint64_t, uint64_t>> open_descriptors() {
  std::map<int, std::pair<uint64_t, uint64_t>> found;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error)) {
    const int fd = std::atoi(it->path().filename().c_str());
    struct stat info {};
    if (fstat(fd, &info) == 0) {
      found[fd] = {info.st_dev, info.st_ino};
    }
  }
  // That of the folder itself was open during the walk.
  std::erase_if(found, [](const auto& one) {
    struct stat info {};
    return fstat(one.first, &info) != 0;
  });
  return found;
}

std::vector<std::string> sorted_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  std::sort(variables.begin(), variables.end());
  return variables;
}

/// The name of the first variable that only one of the two has, or has with this value.
std::string changed_variable(const std::vector<std::string>& before,
                             const std::vector<std::string>& after) {
  std::vector<std::string> changed;
  std::set_symmetric_difference(before.begin(), before.end(), after.begin(), after.end(),
                                std::back_inserter(changed));
  return changed.empty() ? std::string() : changed.front().substr(0, changed.front().find('='));
}

std::string current_folder() {
  std::error_code error;
  return std::filesystem::current_path(error).string();
}

bool same_signals(const sigset_t& a, const sigset_t& b) {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (sigismember(&a, signal) != sigismember(&b, signal)) {
      return false;
    }
  }
  return true;
}

}  // namespace

ProcessState::ProcessState()
    : descriptors_(open_descriptors()),
      environment_(sorted_environment()),
      folder_(current_folder()),
      locale_(std::setlocale(LC_ALL, nullptr)) {
  for (size_t i = 0; i < limits_.size(); ++i) {
    getrlimit(static_cast<__rlimit_resource>(i), &limits_[i]);
  }
  for (size_t signal = 1; signal < actions_.size(); ++signal) {
    sigaction(static_cast<int>(signal), nullptr, &actions_[signal]);
  }
  pthread_sigmask(SIG_BLOCK, nullptr, &mask_);
  umask_ = umask(0);
  umask(umask_);
}

std::string ProcessState::difference() const {
  const ProcessState now;
  for (const auto& [fd, file] : descriptors_) {
    const auto found = now.descriptors_.find(fd);
    if (found == now.descriptors_.end() || found->second != file) {
      return "the descriptor " + std::to_string(fd) + ", which is not the plugin's, is " +
             (found == now.descriptors_.end() ? "closed" : "another file");
    }
  }
  for (size_t signal = 1; signal < actions_.size(); ++signal) {
    if (now.actions_[signal].sa_handler != actions_[signal].sa_handler) {
      return child::signal_name(static_cast<int>(signal)) + " is handled in another way";
    }
  }
  if (!same_signals(now.mask_, mask_)) {
    return "this thread blocks other signals";
  }
  for (size_t i = 0; i < limits_.size(); ++i) {
    if (now.limits_[i].rlim_cur != limits_[i].rlim_cur ||
        now.limits_[i].rlim_max != limits_[i].rlim_max) {
      return "the resource limit number " + std::to_string(i) + " (setrlimit) is another one";
    }
  }
  if (now.umask_ != umask_) {
    return "the umask is another one";
  }
  if (now.folder_ != folder_) {
    return "the current folder is '" + now.folder_ + "'";
  }
  if (const std::string name = changed_variable(environment_, now.environment_); !name.empty()) {
    return "the environment variable " + name + " is set, changed or gone";
  }
  if (now.locale_ != locale_) {
    return "the locale is '" + now.locale_ + "'";
  }
  return {};
}

}  // namespace prism::conformance
