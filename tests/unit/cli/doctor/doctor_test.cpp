// SPDX-License-Identifier: Apache-2.0
#include "core/cli/doctor/doctor.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <string>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#include <vector>

namespace prism::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

DoctorReport made_up_report(State last) {
  return {{{.id = "cpu.usable", .text = "2 of 2", .number = 2},
           {.id = "memory.available",
            .state = State::Limited,
            .text = "512.0 MiB",
            .number = 536870912,
            .consequence = "little"},
           {.id = "gpu.driver", .state = last, .text = "no \"libcuda\"", .consequence = "no GPU"}}};
}

TEST(DoctorRender, Text) {
  EXPECT_EQ(render_text(made_up_report(State::Absent)),
            "cpu.usable        ok       2 of 2\n"
            "memory.available  limited  512.0 MiB\n"
            "                           -> little\n"
            "gpu.driver        absent   no \"libcuda\"\n"
            "                           -> no GPU\n"
            "Ranks can be run on the CPU of this machine.\n");
  EXPECT_THAT(render_text(made_up_report(State::Needed)),
              AllOf(HasSubstr("gpu.driver        needed   no"),
                    HasSubstr("Ranks cannot be run on this machine")));
}

TEST(DoctorRender, Json) {
  EXPECT_EQ(render_json(made_up_report(State::Needed)), R"({
  "schema": 1,
  "ready": false,
  "facts": [
    {
      "id": "cpu.usable",
      "state": "ok",
      "text": "2 of 2",
      "number": 2
    },
    {
      "id": "memory.available",
      "state": "limited",
      "text": "512.0 MiB",
      "number": 536870912,
      "consequence": "little"
    },
    {
      "id": "gpu.driver",
      "state": "needed",
      "text": "no \"libcuda\"",
      "consequence": "no GPU"
    }
  ]
}
)");
}

TEST(DoctorReport, ExitCode) {
  EXPECT_EQ(made_up_report(State::Absent).exit_code(), 0);
  EXPECT_EQ(made_up_report(State::Needed).exit_code(), 4);
}

/// A program in a folder of its own, with plugins beside it, and Pythons that are shell scripts.
class Doctor : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "prism-doctor-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    options_.program_folder = folder_ / "bin";
    options_.python = folder_ / "python";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void add_plugin(const std::string& id, const std::vector<std::string>& files = {}) {
    const auto folder = folder_ / "lib/prism/plugins/abi-1" / id;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "plugin.toml") << "manifest = 1\n";
    for (const std::string& file : files) {
      std::ofstream(folder / file).put('\n');
    }
  }
  void python_that(const std::string& shell) {
    std::ofstream(folder_ / "python") << "#!/bin/sh\n" << shell << "\n";
    std::filesystem::permissions(folder_ / "python", std::filesystem::perms::owner_all);
  }
  void python_with(const std::string& torch) {
    python_that("echo python=3.11.2; echo path=/there; echo torch=" + torch);
  }
  /// The fact with this id of a fresh report.
  Fact fact(const std::string& id) {
    const DoctorReport report = collect(options_);
    for (const Fact& fact : report.facts) {
      if (fact.id == id) {
        return fact;
      }
    }
    ADD_FAILURE() << "no fact " << id << " in\n" << render_text(report);
    return {};
  }

  std::filesystem::path folder_;
  DoctorOptions options_;
};

TEST_F(Doctor, ReadyWithPluginsPythonAndAgent) {
  add_plugin("torch", {"libprism_agent_torch211.so"});
  add_plugin("local");
  python_with("2.11.0+cu130");
  const DoctorReport report = collect(options_);
  EXPECT_TRUE(report.ready()) << render_text(report);
  std::vector<std::string> ids;
  for (const Fact& fact : report.facts) {
    if (fact.id != "cpu.quota" && fact.id != "memory.cgroup") {  // only where there are such limits
      ids.push_back(fact.id);
    }
  }
  EXPECT_THAT(
      ids, ElementsAreArray({"cpu.model", "cpu.usable", "memory.total", "memory.available",
                             "memory.swap", "limits.memlock", "limits.nofile", "system.kernel",
                             "system.glibc", "system.disk", "namespaces.pid_mount",
                             "namespaces.user", "prism.plugins", "python.version", "python.torch",
                             "python.agent", "gpu.driver", "gpu.toolkit", "gpu.nccl"}));
  for (const Fact& fact : report.facts) {
    EXPECT_NE(fact.text, "") << fact.id;
    EXPECT_EQ(fact.state == State::Ok, fact.consequence.empty()) << fact.id;
  }
}

TEST_F(Doctor, SaysWhichPluginsAreMissing) {
  add_plugin("torch");
  add_plugin("zipf");
  std::filesystem::create_directories(folder_ / "lib/prism/plugins/abi-1/local");  // no manifest
  const Fact plugins = fact("prism.plugins");
  EXPECT_EQ(plugins.state, State::Needed);
  EXPECT_EQ(plugins.number, 2U);
  EXPECT_THAT(plugins.text, HasSubstr("torch, zipf in " + folder_.string() + "/lib/prism"));
  EXPECT_THAT(plugins.consequence, HasSubstr("without local no rank"));
}

TEST_F(Doctor, AgentOfAnotherMinor) {
  add_plugin("torch", {"libprism_agent_torch211.so", "libprism_agent_torch212.so"});
  python_with("2.9.1");
  const Fact agent = fact("python.agent");
  EXPECT_EQ(agent.state, State::Needed);
  EXPECT_EQ(agent.text, "for torch 2.11, 2.12, not for 2.9");
  EXPECT_THAT(agent.consequence, HasSubstr("install torch 2.12"));
  python_with("2.12.0a0+gitabc");
  EXPECT_EQ(fact("python.agent").state, State::Ok);
}

TEST_F(Doctor, NoAgent) {
  add_plugin("torch", {"libprism_torch.so"});
  python_with("2.11.0");
  EXPECT_EQ(fact("python.agent").state, State::Needed);
  EXPECT_EQ(fact("python.agent").text, "none");
}

TEST_F(Doctor, PythonWithoutTorch) {
  python_that("echo python=3.11.2");
  const Fact torch = fact("python.torch");
  EXPECT_EQ(torch.state, State::Needed);
  EXPECT_THAT(torch.text, HasSubstr("not installed"));
}

TEST_F(Doctor, PythonsThatCannotBeUsed) {
  const auto python = [&](const std::string& text) {
    const Fact version = fact("python.version");
    EXPECT_EQ(version.state, State::Needed);
    EXPECT_THAT(version.text, HasSubstr(text));
  };
  python("not found");
  python_that("exit 3");
  python("exit code 3");
  python_that("echo hello");
  python("it is no Python");
  options_.timeout = std::chrono::milliseconds(500);
  python_that("sleep 1000");
  python("no answer within 500 ms");
}

TEST_F(Doctor, AsksARealPython) {
  const std::string real = PRISM_SOURCE_DIR "/.venv/bin/python";
  if (!std::filesystem::exists(real)) {
    GTEST_SKIP() << "no " << real << ": run scripts/setup.sh";
  }
  options_.python = real;
  EXPECT_EQ(fact("python.version").state, State::Ok);
  EXPECT_THAT(fact("python.torch").text, ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\..*"));
}

TEST_F(Doctor, FiguresAreThoseOfTheKernel) {
  struct sysinfo info {};
  ASSERT_EQ(::sysinfo(&info), 0);
  EXPECT_EQ(fact("memory.total").number, uint64_t{info.totalram} * info.mem_unit);
  EXPECT_EQ(fact("memory.swap").number, uint64_t{info.totalswap} * info.mem_unit);
  EXPECT_LE(*fact("memory.available").number, *fact("memory.total").number);
}

TEST_F(Doctor, CountsTheCoresOfTheAffinity) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(fact("cpu.usable").number, static_cast<uint64_t>(CPU_COUNT(&before)));

  cpu_set_t one;
  CPU_ZERO(&one);
  int core = 0;
  while (!CPU_ISSET(core, &before)) {
    ++core;
  }
  CPU_SET(core, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  const Fact usable = fact("cpu.usable");
  ::sched_setaffinity(0, sizeof(before), &before);
  EXPECT_EQ(usable.number, 1U);
  EXPECT_EQ(usable.state, State::Limited);
}

TEST_F(Doctor, FewOpenFiles) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{std::min<rlim_t>(100, before.rlim_max), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Fact files = fact("limits.nofile");
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(files.number, few.rlim_cur);
  EXPECT_EQ(files.state, State::Limited);
  EXPECT_THAT(files.consequence, HasSubstr("ulimit -n 1024"));
}

TEST_F(Doctor, LeavesTheProcessAsItWas) {
  const auto namespaces = [] {
    std::vector<std::string> links;
    for (const char* name : {"pid", "mnt", "user", "pid_for_children"}) {
      links.push_back(std::filesystem::read_symlink(std::string("/proc/self/ns/") + name));
    }
    std::ifstream mounts("/proc/self/mountinfo");
    links.emplace_back(std::istreambuf_iterator<char>(mounts), std::istreambuf_iterator<char>());
    return links;
  };
  const auto before = namespaces();
  collect(options_);
  EXPECT_EQ(namespaces(), before);
}

}  // namespace
}  // namespace prism::cli
