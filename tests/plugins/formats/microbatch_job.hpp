// SPDX-License-Identifier: Apache-2.0
/// A made-up job of one step as a micro-batch trace: 2 pipeline stages, 2 data-parallel ranks, 2
/// micro-batches, every time in whole microseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace prism::formats_test {

struct Row {
  int dp;
  int stage;
  const char* operation;
  int64_t start_us;
  int64_t duration_us;
  int sequence;
  int chunk;
  int micro_batch;
};

/// Of both data-parallel ranks the same.
inline std::vector<Row> small_job() {
  std::vector<Row> rows;
  for (int dp = 0; dp < 2; ++dp) {
    const std::vector<Row> both{
        {dp, 0, "params-all-gather", 0, 100, 0, 0, -1},
        {dp, 0, "forward-compute", 110, 200, 0, 0, 0},
        {dp, 0, "forward-send", 311, 20, 0, -1, -1},
        {dp, 0, "forward-compute", 332, 200, 1, 0, 1},
        {dp, 0, "forward-send", 533, 309, 1, -1, -1},
        {dp, 0, "backward-recv", 533, 309, 0, -1, -1},
        {dp, 0, "backward-compute", 843, 300, 0, 0, 0},
        {dp, 0, "backward-recv", 1144, 210, 1, -1, -1},
        {dp, 0, "backward-compute", 1355, 300, 1, 0, 1},
        {dp, 0, "grads-reduce-scatter", 1660, 50, 0, 0, -1},
        {dp, 0, "optimizer-clip-main-grad", 1710, 10, 0, -1, -1},
        {dp, 0, "optimizer", 1720, 30, 0, -1, -1},
        {dp, 1, "params-all-gather", 0, 100, 0, 0, -1},
        {dp, 1, "forward-recv", 105, 226, 0, -1, -1},
        {dp, 1, "forward-compute", 332, 200, 0, 0, 0},
        {dp, 1, "backward-compute", 532, 300, 0, 0, 0},
        {dp, 1, "backward-send", 833, 9, 0, -1, -1},
        {dp, 1, "forward-recv", 833, 9, 1, -1, -1},
        {dp, 1, "forward-compute", 843, 200, 1, 0, 1},
        {dp, 1, "backward-compute", 1043, 300, 1, 0, 1},
        {dp, 1, "backward-send", 1344, 10, 1, -1, -1},
        {dp, 1, "grads-reduce-scatter", 1400, 50, 0, 0, -1},
        {dp, 1, "optimizer-clip-main-grad", 1450, 270, 0, -1, -1},
        {dp, 1, "optimizer", 1720, 30, 0, -1, -1},
    };
    rows.insert(rows.end(), both.begin(), both.end());
  }
  return rows;
}

constexpr const char* kCsvHeader =
    "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n";

inline std::string seconds(int64_t us) {
  const std::string digits = std::to_string(1'000'000 + us % 1'000'000);
  return std::to_string(us / 1'000'000) + "." + digits.substr(1);
}

inline std::string csv(const std::vector<Row>& rows, int step = 7) {
  std::string text = kCsvHeader;
  for (const Row& row : rows) {
    const int global = row.micro_batch < 0 ? -1 : row.chunk * 2 + row.stage;
    text += std::to_string(row.dp) + "," + std::to_string(row.stage) + "," +
            std::to_string(row.stage * 2 + row.dp) + "," + std::to_string(step) + "," +
            row.operation + "," + seconds(row.start_us) + "," + seconds(row.duration_us) + "," +
            std::to_string(row.sequence) + "," + std::to_string(row.chunk) + "," +
            std::to_string(row.micro_batch) + "," + std::to_string(global) + "\n";
  }
  return text;
}

/// `rows` as they are: nothing is taken off the communications.
inline std::string json(const std::vector<Row>& rows, int step = 7) {
  std::string text = "[";
  for (const Row& row : rows) {
    const int tid = (row.stage * 2 + row.dp) * 2;
    text += "{\"name\": \"" + std::string(row.operation) +
            "\", \"ph\": \"X\", \"pid\": " + std::to_string(row.dp) +
            ", \"tid\": " + std::to_string(tid) + ", \"ts\": " + std::to_string(row.start_us) +
            ".0" + ", \"dur\": " + std::to_string(row.duration_us) +
            ", \"args\": {\"step\": " + std::to_string(step) +
            ", \"model_chunk\": " + std::to_string(row.chunk) +
            ", \"mb_id\": " + std::to_string(row.micro_batch) +
            ", \"seq_id\": " + std::to_string(row.sequence) + "}},\n";
  }
  for (int rank = 0; rank < 4; ++rank) {
    const char* works[] = {"compute", "pp-comm"};
    for (int work = 0; work < 2; ++work) {
      text += "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": " + std::to_string(rank % 2) +
              ", \"tid\": " + std::to_string(rank * 2 + work) +
              ", \"args\": {\"name\": \"PP rank " + std::to_string(rank / 2) + ", TP rank 0, " +
              works[work] + "\"}}" + (rank == 3 && work == 1 ? "" : ",\n");
    }
  }
  return text + "]\n";
}

}  // namespace prism::formats_test
