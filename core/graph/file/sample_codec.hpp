// SPDX-License-Identifier: Apache-2.0
/// A sample as sections: a head, references that the sets of a class have in common, and each set.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.hpp"
#include "core/graph/file/decoder.hpp"
#include "core/graph/file/encoder.hpp"
#include "core/graph/file/job_codec.hpp"
#include "core/graph/file/program_codec.hpp"
#include "core/graph/file/section_writer.hpp"
#include "core/graph/trace.hpp"

namespace prism::graph::file {

/// The section `sample`.
struct SampleHead {
  uint32_t iteration = 0;
  uint32_t repeat = 0;
  std::vector<uint32_t> reference_of;  ///< by set: the reference it is stored with; kNone: none
  std::vector<uint32_t> set_of;        ///< as Times::set_of
};
void decode_sample_head(Decoder& from, SampleHead& head);

/// Writes all sections of a sample that has been checked against its kind.
Status write_sample(SectionWriter& to, uint32_t kind_number, uint32_t sample_number,
                    const KindShape& kind, const Sample& sample);

}  // namespace prism::graph::file
