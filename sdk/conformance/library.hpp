// SPDX-License-Identifier: Apache-2.0
/// The plugin under test, opened in this process.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prism/abi/plugin.h"
#include "prism/sdk/random.hpp"
#include "sdk/conformance/host.hpp"
#include "sdk/conformance/interface.hpp"
#include "sdk/conformance/test.hpp"

namespace prism::conformance {

/// The library, opened as Prism opens it. Every function fails the test when the plugin does wrong.
/// It is not closed: a test's process ends with the test.
class Library {
 public:
  explicit Library(Context& context);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void* handle() const { return handle_; }
  /// What prism_plugin_v1 returns; it is defined in the library itself and returns a table.
  const prism_plugin_t& entry();

 private:
  Context& context_;
  void* handle_ = nullptr;
};

/// The plugin between init and deinit.
class Plugin {
 public:
  explicit Plugin(Context& context, Placement host = Placement::Plain, bool logging = true,
                  uint16_t host_minor = PRISM_ABI_MINOR);
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  void init();
  void deinit();
  const TestHost& host() const { return host_; }
  void* handle() const { return library_.handle(); }
  const void* get_interface(std::string_view id);

 private:
  Context& context_;
  TestHost& host_;
  Library library_;
  const prism_plugin_t& entry_;
};

/// A session of an interface that is under test.
class Session {
 public:
  Session(Context& context, const Interface& interface, void* handle)
      : context_(&context), interface_(&interface), handle_(handle) {}
  void* handle() const { return handle_; }
  /// Serves request `i`; returns everything that came out, a refusal included. Fails where the
  /// plugin breaks a rule for errors.
  std::string serve(size_t i, Placement placement = Placement::Plain) const;
  /// Serves all requests, first to last.
  std::vector<std::string> serve_all(Placement placement = Placement::Plain) const;
  void close() const;

 private:
  Context* context_;
  const Interface* interface_;
  void* handle_;
};

/// The plugin, started, with one of its interfaces and values for its options.
class Bench {
 public:
  Bench(Context& context, const Kind& kind, Placement host = Placement::Plain, bool logging = true,
        uint16_t host_minor = PRISM_ABI_MINOR);
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Context& context() { return context_; }
  Plugin& plugin() { return plugin_; }
  const Interface& interface() const { return *interface_; }
  const prism_option_table_t& table() const { return interface_->options(); }
  /// The user's values, else the defaults; skips the test when an option that must be given is not.
  std::vector<prism_option_value_t> values() const;
  Session open();
  /// Nothing when the plugin refuses these values, which `refusal` then quotes. `what`: "open()",
  /// in the words of a failure.
  std::optional<Session> open_with(const std::vector<prism_option_value_t>& values,
                                   const std::string& what, std::string& refusal);
  /// A session with drawn options (drawn_options.hpp), which `words` then names; nothing when the
  /// plugin refuses them. Skips the test where there is nothing to draw.
  std::optional<Session> open_drawn(sdk::Random& random, std::string& words);

 private:
  Context& context_;
  Plugin plugin_;
  std::unique_ptr<Interface> interface_;
};

}  // namespace prism::conformance
