// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/library.hpp"

#include <cstdint>
#include <dlfcn.h>
#include <sys/stat.h>

#include "prism/host/bind.hpp"
#include "prism/host/status.hpp"
#include "sdk/conformance/drawn_options.hpp"

namespace prism::conformance {
namespace {

bool same_file(const char* a, const char* b) {
  struct stat first {};
  struct stat second {};
  return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

/// Never destroyed: a thread of the plugin may use it until the process ends.
TestHost& immortal_host(Placement placement, bool logging, uint16_t minor) {
  static auto* hosts = new std::vector<std::unique_ptr<TestHost>>;
  hosts->push_back(std::make_unique<TestHost>(placement, logging, minor));
  return *hosts->back();
}

}  // namespace

Library::Library(Context& context) : context_(context) {
  context.doing("loading the library");
  handle_ = dlopen(context.subject().library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const char* why = dlerror();
    fail(std::string("cannot be loaded: ") + (why != nullptr ? why : "no reason given"));
  }
  context.forgive_output();  // S1.quiet tells
}

const prism_plugin_t& Library::entry() {
  void* symbol = dlsym(handle_, PRISM_PLUGIN_ENTRY);
  require(symbol != nullptr, "does not export " PRISM_PLUGIN_ENTRY);
  Dl_info where{};
  if (dladdr(symbol, &where) == 0 || where.dli_fname == nullptr ||
      !same_file(where.dli_fname, context_.subject().library.c_str())) {
    fail(std::string("the entry " PRISM_PLUGIN_ENTRY " comes from ") +
         (where.dli_fname == nullptr ? "an unknown file" : where.dli_fname) +
         "; a plugin must define its own");
  }
  using Entry = const prism_plugin_t* (*)();
  context_.doing("calling " PRISM_PLUGIN_ENTRY);
  const prism_plugin_t* table = reinterpret_cast<Entry>(symbol)();
  require(table != nullptr, PRISM_PLUGIN_ENTRY " returned no table");
  return *table;
}

Plugin::Plugin(Context& context, Placement host, bool logging, uint16_t host_minor)
    : context_(context),
      host_(immortal_host(host, logging, host_minor)),
      library_(context),
      entry_(library_.entry()) {
  init();
}

void Plugin::init() {
  if (entry_.init == nullptr) {
    return;
  }
  context_.doing("init()");
  const StrictSink sink;
  const prism_status_t status = entry_.init(host_.c(), sink.c());
  if (status != PRISM_STATUS_OK) {
    const std::string problem = sink.problem(status);
    fail("init() " + (problem.empty() ? "failed" + sink.quoted() : problem));
  }
}

void Plugin::deinit() {
  if (entry_.deinit != nullptr) {
    context_.doing("deinit()");
    entry_.deinit();
  }
}

const void* Plugin::get_interface(std::string_view id) {
  context_.doing("get_interface(\"" + std::string(id) + "\")");
  return entry_.get_interface({id.data(), id.size()});
}

std::string Session::serve(size_t i, Placement placement) const {
  const std::string what = interface_->describe(i);
  context_->doing(what);
  std::string output;
  const StrictSink sink;
  const prism_status_t status = interface_->serve(handle_, i, placement, output, sink.c());
  if (status != PRISM_STATUS_OK) {
    const std::string problem = sink.problem(status);
    require(problem.empty(), what + ": " + problem);
    output += "refused with status " + host::status_name(status);
  }
  return output;
}

std::vector<std::string> Session::serve_all(Placement placement) const {
  std::vector<std::string> outputs;
  for (size_t i = 0; i < interface_->request_count(); ++i) {
    outputs.push_back(serve(i, placement));
  }
  return outputs;
}

void Session::close() const {
  context_->doing("close()");
  interface_->close(handle_);
}

Bench::Bench(Context& context, const Kind& kind, Placement host, bool logging, uint16_t host_minor)
    : context_(context), plugin_(context, host, logging, host_minor) {
  const void* table = plugin_.get_interface(kind.id);
  const std::string problem = host::check_interface(kind.id, table);
  require(problem.empty(), problem);
  interface_ = kind.bind(table, context.subject(), context.seed());
}

std::vector<prism_option_value_t> Bench::values() const {
  OptionReading reading = context_.subject().read_options(table());
  if (!reading.problem.empty()) {
    skip(std::string(kNoOptions) + reading.problem);
  }
  return std::move(reading.values);
}

Session Bench::open() {
  const std::vector<prism_option_value_t> given = values();
  std::string refusal;
  const std::optional<Session> session = open_with(given, "open()", refusal);
  if (!session) {
    fail("open() refuses the defaults of its options" + refusal);
  }
  return *session;
}

std::optional<Session> Bench::open_with(const std::vector<prism_option_value_t>& given,
                                        const std::string& what, std::string& refusal) {
  context_.doing(what);
  // Not a pointer that a plugin would give: shows whether it wrote one.
  void* const unwritten = &context_;
  void* session = unwritten;
  const StrictSink sink;
  const prism_status_t status = interface_->open(given.data(), given.size(), &session, sink.c());
  if (status != PRISM_STATUS_OK) {
    const std::string problem = sink.problem(status);
    require(problem.empty(), what + " " + problem);
    refusal = sink.quoted();
    return std::nullopt;
  }
  require(session != unwritten, what + " succeeded without writing a session");
  return Session(context_, *interface_, session);
}

std::optional<Session> Bench::open_drawn(sdk::Random& random, std::string& words) {
  std::vector<prism_option_value_t> drawn = values();
  words = draw_options(table(), drawn, random);
  if (words.empty()) {
    skip("no option has bounds or choices to draw a value from");
  }
  std::string refusal;  // S4.allowed_values tells it
  return open_with(drawn, "open() with " + words, refusal);
}

}  // namespace prism::conformance
