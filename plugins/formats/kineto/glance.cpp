// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/glance.hpp"

#include <cstring>

#include "plugins/formats/kineto/calls.hpp"

namespace prism::kineto {
namespace {

/// The members of an object one by one, as far as they are simple: strings without escapes,
/// numbers.
class Members {
 public:
  explicit Members(std::string_view object)
      : at_(object.data() + 1), end_(at_ + object.size() - 1) {}

  struct Member {
    std::string_view key;
    std::string_view value;  ///< without quotes
  };
  bool next(Member& member) {
    skip_space();
    if (at_ != end_ && *at_ == ',') {
      ++at_;
      skip_space();
    }
    if (!take_string(member.key)) {
      return false;
    }
    skip_space();
    if (at_ == end_ || *at_ != ':') {
      return false;
    }
    ++at_;
    skip_space();
    if (at_ != end_ && *at_ == '"') {
      return take_string(member.value);
    }
    const char* const begin = at_;
    while (at_ != end_ && *at_ != ',' && *at_ != '}') {
      if (*at_ == '{' || *at_ == '[' || *at_ == '"') {
        return false;
      }
      ++at_;
    }
    member.value = {begin, static_cast<size_t>(at_ - begin)};
    return true;
  }

 private:
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) {
      ++at_;
    }
  }
  bool take_string(std::string_view& text) {
    if (at_ == end_ || *at_ != '"') {
      return false;
    }
    const auto* quote =
        static_cast<const char*>(std::memchr(at_ + 1, '"', static_cast<size_t>(end_ - at_ - 1)));
    if (quote == nullptr || quote[-1] == '\\') {
      return false;
    }
    text = {at_ + 1, static_cast<size_t>(quote - at_ - 1)};
    at_ = quote + 1;
    return true;
  }

  const char* at_;
  const char* const end_;
};

}  // namespace

Category category_of(std::string_view name) {
  struct Known {
    std::string_view name;
    Category category;
  };
  static constexpr Known kKnown[] = {{"cpu_op", Category::Operation},
                                     {"cuda_runtime", Category::Call},
                                     {"kernel", Category::Kernel},
                                     {"cuda_driver", Category::Call},
                                     {"fwdbwd", Category::ForwardMark},
                                     {"user_annotation", Category::Annotation},
                                     {"gpu_memcpy", Category::Copy},
                                     {"gpu_memset", Category::Copy},
                                     {"cuda_sync", Category::SyncFact},
                                     {"Operator", Category::Operation},
                                     {"Runtime", Category::Call},
                                     {"Kernel", Category::Kernel},
                                     {"Memcpy", Category::Copy},
                                     {"Memset", Category::Copy},
                                     {"forward_backward", Category::ForwardMark}};
  for (const Known& known : kKnown) {
    if (name == known.name) {
      return known.category;
    }
  }
  return Category::Ignored;
}

Category refined(Category category, std::string_view name) {
  if (category == Category::Operation) {
    if (name == "record_param_comms") {
      return Category::Operation;
    }
    return name.starts_with("autograd::engine::evaluate_function") ? Category::AutogradOp
                                                                   : Category::Ignored;
  }
  if (category == Category::Call) {
    return kind_of_call(name) ? Category::Call : Category::Ignored;
  }
  if (category == Category::Annotation && name.starts_with("nccl:")) {
    return Category::NcclAnnotation;
  }
  return category;
}

bool may_matter(std::string_view event) {
  Members members(event);
  Members::Member member;
  std::string_view name;
  bool has_name = false;
  Category category = Category::Ignored;
  while (members.next(member)) {
    if (member.key == "ph") {
      if (member.value != "X" && member.value != "s") {
        return false;
      }
    } else if (member.key == "cat") {
      category = category_of(member.value);
      if (category == Category::Ignored) {
        return false;
      }
    } else if (member.key == "name") {
      name = member.value;
      has_name = true;
    }
    if (has_name && category != Category::Ignored) {
      return refined(category, name) != Category::Ignored;
    }
  }
  return true;
}

}  // namespace prism::kineto
