// SPDX-License-Identifier: Apache-2.0
/// What the tests of sessions need of an interface, so that they are written once for all kinds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "prism/abi/error.h"
#include "prism/abi/option.h"
#include "sdk/conformance/placed.hpp"
#include "sdk/conformance/subject.hpp"

namespace prism::conformance {

/// A bound table of one kind, and requests that stand for all that a job may ask.
class Interface {
 public:
  virtual ~Interface() = default;
  virtual const prism_option_table_t& options() const = 0;
  virtual prism_status_t open(const prism_option_value_t* values, uint64_t count, void** session,
                              const prism_error_sink_t* err) const = 0;
  virtual void close(void* session) const = 0;

  /// Valid requests, which a plugin may still refuse.
  virtual size_t request_count() const = 0;
  virtual std::string describe(size_t request) const = 0;
  /// Serves one and appends the bytes that came out; the status of the first call that failed.
  virtual prism_status_t serve(void* session, size_t request, Placement placement,
                               std::string& output, const prism_error_sink_t* err) const = 0;

  /// Requests that no plugin can serve.
  virtual size_t invalid_count() const = 0;
  virtual std::string describe_invalid(size_t request) const = 0;
  virtual prism_status_t serve_invalid(void* session, size_t request,
                                       const prism_error_sink_t* err) const = 0;
};

/// A kind of plugin whose semantics are tested.
struct Kind {
  std::string_view name;  ///< "router"
  std::string_view id;    ///< "prism.router/1"
  /// `table` has passed host::check_interface. The requests depend on the seed, and on what the
  /// user gave for the check.
  std::unique_ptr<Interface> (*bind)(const void* table, const Subject& subject, uint64_t seed);
  bool draft = false;         ///< host and plugin match exactly: no structs of other versions
  bool control_only = false;  ///< none of its functions runs on several threads at once
};

}  // namespace prism::conformance
