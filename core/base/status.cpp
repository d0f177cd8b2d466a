// SPDX-License-Identifier: Apache-2.0
#include "core/base/status.hpp"

#include <cstdio>
#include <cstdlib>

namespace prism {

Status&& Status::context(std::string doing) && {
  if (failure_) {
    failure_->context.push_back(std::move(doing));
  }
  return std::move(*this);
}

std::string Status::to_string() const {
  if (!failure_) {
    return "ok";
  }
  std::string text;
  for (auto it = failure_->context.rbegin(); it != failure_->context.rend(); ++it) {
    text += *it + "\n  caused by: ";
  }
  return text + failure_->message;
}

int Status::exit_code() const {
  if (!failure_) {
    return 0;
  }
  switch (failure_->domain) {
    case Domain::Run:
      return 1;
    case Domain::Config:
      return 2;
    case Domain::Plugin:
      return 3;
    case Domain::Environment:
      return 4;
    case Domain::Bug:
      return 70;
    case Domain::Interrupted:
      return 130;
  }
  return 70;
}

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "prism: bug: '%s' does not hold at %s:%d\n", expression, file, line);
  std::abort();
}

}  // namespace prism
