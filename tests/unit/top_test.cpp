// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "userspace/commands/top_json.h"
#include "userspace/commands/top_rows.h"
#include "userspace/commands/top_table.h"

namespace uvtap {
namespace {

LoopGroupMetrics group(double utilization, double wait_p95, double stall = 0) {
  return {.window = WindowFigures{.utilization = utilization,
                                  .utilization_max = utilization,
                                  .active = {.cpu = utilization, .runqueue = 0, .blocked = 0},
                                  .turns_per_second = 12.4,
                                  .wait = {.p95_seconds = wait_p95},
                                  .delay = std::nullopt},
          .cumulative = {},
          .stall_seconds = stall,
          .loops = 1,
          .loops_by_door = {}};
}

ContainerMetrics container(const std::string& process, LoopGroupMetrics main) {
  ContainerMetrics metrics;
  metrics.identity.process = process;
  metrics.runtimes = {{"22.23.5", "1.51.0"}};
  metrics.main = std::move(main);
  return metrics;
}

std::vector<std::string> names(const std::vector<TopRow>& rows) {
  std::vector<std::string> result;
  for (const TopRow& row : rows) result.push_back(row.name);
  return result;
}

TopView view_of(std::vector<TopRow> rows) {
  const size_t processes = rows.size();
  return {.grouping = Grouping::loop,
          .window_ns = 15'000'000'000,
          .unix_seconds = 1.5,
          .processes = processes,
          .unsupported_processes = 0,
          .rows = std::move(rows)};
}

TEST_CASE("trouble comes first: long stalls, then waits, then utilization, then the name") {
  const std::vector containers = {
      container("calm/1", group(0.1, 0)),       container("busy/2", group(0.9, 0)),
      container("waits/3", group(0.5, 0.1)),    container("stuck/4", group(0.2, 0, 5)),
      container("turning/5", group(0, 0, 0.9)), container("also/6", group(0, 0)),
  };
  CHECK(names(top_rows(containers, {})) ==
        std::vector<std::string>{"stuck/4", "waits/3", "busy/2", "calm/1", "also/6", "turning/5"});
}

TEST_CASE("Workers have a row of their own, groups without a living loop none") {
  ContainerMetrics app = container("app/1", group(0.1, 0));
  app.workers = group(0.8, 0);
  app.workers->loops = 3;
  ContainerMetrics gone = container("gone/2", group(0.1, 0));
  gone.main->loops = 0;
  const std::vector containers = {app, gone};
  const auto rows = top_rows(containers, {});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].is_worker);
  CHECK(rows[0].loop_count == 3);
  CHECK_FALSE(rows[1].is_worker);
}

TEST_CASE("a name cannot reach the terminal's controls") {
  const std::vector containers = {container("\x1b[2Jevil\n/1", group(0, 0))};
  CHECK(names(top_rows(containers, {})) == std::vector<std::string>{"?[2Jevil?/1"});
}

TEST_CASE("a row knows its loops") {
  const std::vector containers = {container("app/1", group(0, 0))};
  const RowKey key{containers[0].identity, false};
  const auto rows = top_rows(containers, {{key, {{1}, {1}, {FRONT_DOOR_EPOLL}}}});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].loops.pids == std::set<pid_t>{1});
  CHECK(rows[0].loops.doors == std::set{FRONT_DOOR_EPOLL});
}

TEST_CASE("a view is complete with figures in every row, or without any process") {
  CHECK(is_complete(view_of({})));
  auto view = view_of(top_rows(std::vector{container("app/1", group(0, 0))}, {}));
  CHECK(is_complete(view));
  view.rows[0].figures.reset();
  CHECK_FALSE(is_complete(view));
  view.rows.clear();
  CHECK_FALSE(is_complete(view));
}

TEST_CASE("durations are short") {
  CHECK(short_duration(0) == "-");
  CHECK(short_duration(0.00004) == "0.0 ms");
  CHECK(short_duration(0.0351) == "35.1 ms");
  CHECK(short_duration(0.1234) == "123 ms");
  CHECK(short_duration(2.345) == "2.35 s");
  CHECK(short_duration(31.4) == "31 s");
}

TEST_CASE("the summary counts, and points to what is missing") {
  CHECK(top_summary(view_of({})) == "no Node.js process is observed");
  auto view = view_of(top_rows(std::vector{container("app/1", group(0, 0))}, {}));
  CHECK(top_summary(view) == "1 loop of 1 Node.js process; figures over up to 15 s");
  view.unsupported_processes = 2;
  CHECK(
      top_summary(view) ==
      "1 loop of 1 Node.js process; figures over up to 15 s; 2 processes are not supported (uvtap "
      "check tells why)");
}

TEST_CASE("the table marks what needs a look, and leaves unknown figures out") {
  const std::vector containers = {container("stuck/1", group(0.1, 0, 1.5)),
                                  container("busy/2", group(0.71, 0.035)),
                                  container("calm/3", group(0.7, 0.001))};
  auto rows = top_rows(containers, {});
  rows[2].figures.reset();
  const TextTable table = top_table(view_of(rows));
  REQUIRE(table.rows.size() == 3);
  CHECK(table.rows[0].tint == Tint::red);
  CHECK(table.rows[1].tint == Tint::yellow);
  CHECK(table.rows[2].tint == Tint::none);
  CHECK(table.rows[1].cells == std::vector<std::string>{"busy/2", "71.0%", "35.0 ms", "-", "-",
                                                        "71.0%", "0.0%", "0.0%", "12", "main", "-",
                                                        "22.23.5"});
  CHECK(table.rows[2].cells == std::vector<std::string>{"calm/3", "-", "-", "-", "-", "-", "-", "-",
                                                        "-", "main", "-", "22.23.5"});
  for (const TableRow& row : table.rows) CHECK(row.cells.size() == table.columns.size());
}

TEST_CASE("JSON has every field in every row, null where there is no value") {
  auto rows = top_rows(std::vector{container("app/1", group(0.25, 0.5, 2))}, {});
  rows.push_back(rows[0]);
  rows[0].loops = {{7}, {8}, {FRONT_DOOR_IO_POLL}};
  rows[1].loops = {{7, 9}, {7, 9}, {}};
  rows[1].figures.reset();
  const auto document = nlohmann::json::parse(top_json(view_of(rows)));
  CHECK(document["by"] == "loop");
  CHECK(document["window_seconds"] == 15.0);
  const auto& first = document["rows"][0];
  const auto& second = document["rows"][1];
  CHECK(first["utilization"] == 0.25);
  CHECK(first["wait_p95_seconds"] == 0.5);
  CHECK(first["delay_p95_seconds"].is_null());
  CHECK(first["stall_seconds"] == 2.0);
  CHECK(first["pid"] == 7);
  CHECK(first["tid"] == 8);
  CHECK(first["front_doors"] == nlohmann::json{"io_poll"});
  CHECK(second["pid"].is_null());
  CHECK(second["utilization"].is_null());
  CHECK(second.size() == first.size());
}

}  // namespace
}  // namespace uvtap
