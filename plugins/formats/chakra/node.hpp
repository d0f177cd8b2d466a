// SPDX-License-Identifier: Apache-2.0
/// Node, every message but the first.
#pragma once

#include <string_view>
#include <vector>

#include "plugins/formats/chakra/attribute.hpp"
#include "plugins/formats/chakra/records.hpp"

namespace prism::chakra {

class NodeReader {
 public:
  explicit NodeReader(RankTrace& trace) : trace_(trace) {}

  /// Adds the node. Throws Malformed.
  void read(std::string_view message);
  /// Of the message that was read last, as far as it was understood.
  uint64_t id() const { return node_.id; }

 private:
  void read_field(const Field& field);
  void read_dependencies(Field field, bool control);
  void add_dependency(uint64_t id, bool control);
  void read_attribute(const Attribute& attribute);
  void read_inputs();
  Communication& communication();
  OwnNode& own();

  RankTrace& trace_;
  // Of the present node.
  Node node_;
  std::string_view inputs_;
  std::vector<std::string_view> attributes_;
};

}  // namespace prism::chakra
