// SPDX-License-Identifier: Apache-2.0
#include "core/graph/file/program_sections.hpp"

#include "core/graph/file/program_codec.hpp"

namespace prism::graph::file {

Result<uint32_t> ProgramWriter::write(SectionType type, Written& written, const Encoder& content) {
  const auto next = static_cast<uint32_t>(written.size());
  const auto [entry, fresh] = written.try_emplace(content.bytes(), next);
  if (fresh) {
    PRISM_TRY(writer_.add({type, next, 0, 0}, content));
  } else {
    writer_.used_again(content.memory());
  }
  return entry->second;
}

Result<uint32_t> ProgramWriter::structure(const Program& program) {
  Encoder content;
  encode_structure(content, program);
  return write(SectionType::Structure, structures_, content);
}

Result<uint32_t> ProgramWriter::communicators(const Program& program) {
  Encoder content;
  encode_communicators(content, program);
  return write(SectionType::Communicators, communicators_, content);
}

Result<uint32_t> ProgramWriter::own_times(const Program& program) {
  Encoder content;
  encode_own_times(content, program);
  return write(SectionType::OwnTimes, own_times_, content);
}

Result<const Program*> ProgramReader::known(const Read& read, const SectionKey& key) {
  const auto found = read.find(key.a);
  if (found == read.end()) {
    return nullptr;
  }
  if (!budget_.take(found->second.memory)) {
    return file_.bad("needs more memory than a file of its size may, for copies of section " +
                     describe(key));
  }
  return found->second.program;
}

template <typename Decode>
Status ProgramReader::read(Read& read, const SectionKey& key, Program& to, Decode decode) {
  const uint64_t before = budget_.left();
  PRISM_TRY(file_.read(key, budget_, [&](Decoder& from) { decode(from, to); }));
  read.emplace(key.a, Known{&to, before - budget_.left()});
  return {};
}

Status ProgramReader::structure(uint32_t number, Program& to) {
  const SectionKey key{SectionType::Structure, number, 0, 0};
  PRISM_TRY_ASSIGN(const Program* const same, known(structures_, key));
  if (same == nullptr) {
    return read(structures_, key, to, decode_structure);
  }
  to.iterations = same->iterations;
  to.lanes = same->lanes;
  to.nodes = same->nodes;
  to.parts = same->parts;
  to.dependencies = same->dependencies;
  to.labels = same->labels;
  to.texts = same->texts;
  return {};
}

Status ProgramReader::communicators(uint32_t number, Program& to) {
  const SectionKey key{SectionType::Communicators, number, 0, 0};
  PRISM_TRY_ASSIGN(const Program* const same, known(communicators_, key));
  if (same == nullptr) {
    return read(communicators_, key, to, decode_communicators);
  }
  to.communicators = same->communicators;
  to.others = same->others;
  return {};
}

Status ProgramReader::own_times(uint32_t number, Program& to) {
  return file_.read({SectionType::OwnTimes, number, 0, 0}, budget_,
                    [&](Decoder& from) { decode_own_times(from, to); });
}

}  // namespace prism::graph::file
