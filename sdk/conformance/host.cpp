// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/host.hpp"

#include "prism/host/status.hpp"
#include "prism/host/text.hpp"

namespace prism::conformance {
namespace {

constexpr char kVersion[] = "conformance";

}  // namespace

TestHost::TestHost(Placement placement, bool logging, uint16_t abi_minor)
    : logging_(logging),
      table_(prism_host_t{sizeof(prism_host_t),
                          0,
                          PRISM_ABI_MAJOR,
                          abi_minor,
                          0,
                          this,
                          {kVersion, sizeof kVersion - 1},
                          &log_enabled,
                          &log},
             placement) {}

std::string TestHost::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

uint8_t TestHost::log_enabled(void* ctx, int32_t /*level*/) noexcept {
  return static_cast<const TestHost*>(ctx)->logging_ ? 1 : 0;
}

void TestHost::log(void* ctx, int32_t level, prism_str_t message) noexcept {
  auto& self = *static_cast<TestHost*>(ctx);
  const std::lock_guard lock(self.mutex_);
  if (!self.problem_.empty()) {
    return;
  }
  if (level < PRISM_LOG_TRACE || level > PRISM_LOG_ERROR) {
    self.problem_ = "it logs at the unknown level " + std::to_string(level);
  } else if (!host::valid_text(message, host::kMaxText)) {
    self.problem_ = "it logs a line that is no UTF-8: " + host::clean_text(message);
  }
}

std::string StrictSink::problem(prism_status_t code) const {
  const std::string status = "status " + host::status_name(code);
  if (code < PRISM_STATUS_OK || code > PRISM_STATUS_DATA_LOSS) {
    return "returned " + status + ", which is no PRISM_STATUS_";
  }
  if (reports_ == 0) {
    return "failed with " + status + " and no message";
  }
  if (reports_ > 1) {
    return "reported " + std::to_string(reports_) + " errors in one call";
  }
  if (code_ != code) {
    return "reported status " + host::status_name(code_) + " but returned " +
           host::status_name(code);
  }
  if (!valid_ || message_.empty()) {
    return "gave a message that is no UTF-8 text: '" + message_ + "'";
  }
  return {};
}

std::string StrictSink::quoted() const {
  return message_.empty() ? std::string() : " (its words: " + message_ + ")";
}

void StrictSink::report(void* ctx, prism_status_t code, prism_str_t message) noexcept {
  auto& sink = *static_cast<StrictSink*>(ctx);
  ++sink.reports_;
  sink.code_ = code;
  sink.valid_ = sink.valid_ && host::valid_text(message, host::kMaxText);
  sink.message_ = host::clean_text(message);
}

}  // namespace prism::conformance
