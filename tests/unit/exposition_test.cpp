// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/exposition.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <ctime>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/synthetic_loop.h"
#include "userspace/metrics/container_book.h"
#include "userspace/metrics/metrics_page.h"

namespace uvtap {
namespace {

using Catch::Matchers::Contains;

/// A container with a main loop and a Worker after so many milliseconds of life.
std::vector<ContainerMetrics> sample_containers(const PodIdentity& identity, uint64_t age_ms) {
  SyntheticLoop main_loop(1, 0);
  SyntheticLoop worker(1, 0, true);
  main_loop.turn(age_ms / 4 * ms);
  main_loop.idle(age_ms * 3 / 4 * ms);
  main_loop.fire_timer(20'100'000);
  worker.be_busy(age_ms * ms);
  ContainerBook book(15 * second);
  const std::vector loops{ObservedLoop{&main_loop.snapshot(), &identity},
                          ObservedLoop{&worker.snapshot(), &identity}};
  const std::vector live{LiveProcess{identity, {"22.23.5", "1.51.0"}}};
  return book.update(age_ms * ms, loops, live);
}

const PodIdentity web{.namespace_ = "shop",
                      .pod = "web-1",
                      .container = "app",
                      .workload_kind = "Deployment",
                      .workload = "web",
                      .process = ""};

constexpr const char* web_labels =
    R"(namespace="shop",pod="web-1",container="app",workload_kind="Deployment",workload="web",process="")";

std::string container_text(const PodIdentity& identity, uint64_t age_ms) {
  Families families;
  add_container_families(families, sample_containers(identity, age_ms));
  return families.text();
}

std::string series(const std::string& name, const std::string& more_labels = "") {
  return "\n" + name + "{" + web_labels + (more_labels.empty() ? "" : "," + more_labels) + "} ";
}

SelfMetrics sample_self() {
  SelfMetrics self;
  self.limited = {{"containers", 8}};
  self.version = "0.1.0";
  self.attached_binaries = 3;
  self.attach_failures = {{"not_permitted", 2}};
  self.probe_hits[FRONT_DOOR_IO_POLL] = 77;
  self.probe_cost_seconds[FRONT_DOOR_IO_POLL] = 0.0000005;
  self.lost[LOST_LOOPS_FULL] = 9;
  self.processes_observed = 4;
  self.processes_waiting = 1;
  self.processes_unsupported = 2;
  self.identity_unresolved = 5;
  self.kubernetes_source = "api";
  self.kubernetes_watch_errors = {{"forbidden", 6}};
  return self;
}

TEST_CASE("the series of the contract are there, with their values") {
  const std::string text = container_text(web, 2'000);
  CHECK_THAT(text, Contains(series("nodejs_eventloop_utilization") + "0.25\n"));
  CHECK_THAT(text, Contains(series("nodejs_eventloop_utilization_max") + "0.25\n"));
  CHECK_THAT(text, Contains(series("nodejs_eventloop_delay_p95_seconds") + "0.0201"));
  CHECK_THAT(text, Contains(series("nodejs_eventloop_wait_p99_seconds") + "0.48"));
  CHECK_THAT(text, Contains(series("nodejs_eventloop_wait_max_seconds") + "0.5\n"));
  CHECK_THAT(text, Contains(series("nodejs_eventloop_stall_seconds") + "0\n"));
  CHECK_THAT(text, Contains(series("nodejs_eventloop_loops") + "1\n"));
  CHECK_THAT(text, Contains(series("nodejs_eventloop_turns_total") + "1\n"));
  CHECK_THAT(text, Contains(series("nodejs_eventloop_time_seconds_total",
                                   R"(nodejs_eventloop_state="active")") +
                            "0.5\n"));
  CHECK_THAT(text, Contains(series("nodejs_eventloop_time_seconds_total",
                                   R"(nodejs_eventloop_state="idle")") +
                            "1.5\n"));
  CHECK_THAT(text,
             Contains(series("nodejs_eventloop_active_seconds_total", R"(cause="cpu")") + "0.5\n"));
  CHECK_THAT(text,
             Contains(series("nodejs_eventloop_delay_seconds_bucket", R"(le="0.02")") + "0\n"));
  CHECK_THAT(text,
             Contains(series("nodejs_eventloop_delay_seconds_bucket", R"(le="0.021")") + "1\n"));
  CHECK_THAT(text,
             Contains(series("nodejs_eventloop_wait_seconds_bucket", R"(le="0.25")") + "1750\n"));
  CHECK_THAT(text,
             Contains(series("nodejs_eventloop_turn_seconds_bucket", R"(le="+Inf")") + "1\n"));
  CHECK_THAT(text, Contains(series("nodejs_worker_eventloop_utilization") + "1\n"));
  CHECK_THAT(text, Contains(series("nodejs_worker_eventloop_stall_seconds") + "2\n"));
  CHECK_THAT(text, Contains(series("nodejs_runtime_info",
                                   R"(node_version="22.23.5",libuv_version="1.51.0")") +
                            "1\n"));
}

TEST_CASE("what has no value yet has no series") {
  const std::string text = container_text(web, 800);
  CHECK_THAT(text, !Contains("nodejs_eventloop_utilization"));
  CHECK_THAT(text, !Contains("_p95_seconds"));
  CHECK_THAT(text, Contains(series("nodejs_eventloop_loops") + "1\n"));
  CHECK_THAT(text, Contains(series("nodejs_worker_eventloop_stall_seconds") + "0.8\n"));
}

TEST_CASE("a hostile process name cannot break the page") {
  PodIdentity hostile;
  hostile.process = "evil\"} 1\nfake_metric 7\n\\\xff/12";
  const std::string text = container_text(hostile, 2'000);
  CHECK_THAT(text, !Contains("\nfake_metric"));
  CHECK_THAT(text, Contains(R"(process="evil\"} 1?fake_metric 7?\\?/12")"));
}

TEST_CASE("uvtap's own figures") {
  Families families;
  add_self_families(families, sample_self());
  const std::string& text = families.text();
  CHECK_THAT(text, Contains("\nuvtap_build_info{version=\"0.1.0\"} 1\n"));
  CHECK_THAT(text, Contains("\nuvtap_attached_binaries 3\n"));
  CHECK_THAT(text, Contains("\nuvtap_attach_failures_total{reason=\"not_permitted\"} 2\n"));
  CHECK_THAT(text, Contains("\nuvtap_processes{state=\"observed\"} 4\n"));
  CHECK_THAT(text, Contains("\nuvtap_processes{state=\"waiting\"} 1\n"));
  CHECK_THAT(text, Contains("\nuvtap_processes{state=\"unsupported\"} 2\n"));
  CHECK_THAT(text, Contains("\nuvtap_probe_hits_total{front_door=\"io_poll\"} 77\n"));
  CHECK_THAT(text, Contains("\nuvtap_probe_cost_seconds{front_door=\"io_poll\"} 5e-07\n"));
  CHECK_THAT(text, !Contains("uvtap_probe_cost_seconds{front_door=\"memory\"}"));
  CHECK_THAT(text, Contains("\nuvtap_lost_total{reason=\"loops_full\"} 9\n"));
  CHECK_THAT(text, Contains("\nuvtap_limited_total{limit=\"containers\"} 8\n"));
  CHECK_THAT(text, Contains("\nuvtap_identity_unresolved 5\n"));
  CHECK_THAT(text, Contains("\nuvtap_kubernetes_source{source=\"api\"} 1\n"));
  CHECK_THAT(text, Contains("\nuvtap_kubernetes_watch_errors_total{reason=\"forbidden\"} 6\n"));
}

TEST_CASE("each reason and front door has a name of its own") {
  Families families;
  add_self_families(families, sample_self());
  std::istringstream lines(families.text());
  std::set<std::string> seen;
  for (std::string line; std::getline(lines, line);)
    CHECK(seen.insert(line.substr(0, line.rfind(' '))).second);
  CHECK_THAT(families.text(), !Contains("\"unknown\"") && !Contains("\"none\""));
}

TEST_CASE("this process's own figures are plausible") {
  const auto own = read_own_process();
  REQUIRE(own);
  CHECK(own->resident_bytes > 1'000'000);
  CHECK(own->virtual_bytes >= own->resident_bytes);
  CHECK(own->open_fds >= 3);
  CHECK(own->open_fds < own->max_fds);
  CHECK(own->cpu_seconds > 0);
  CHECK(own->start_time_seconds == Approx(static_cast<double>(std::time(nullptr))).margin(300));
}

TEST_CASE("a page shows the latest content, and process_* even before the first") {
  MetricsPage page;
  CHECK_THAT(page.text(), Contains("process_open_fds") && !Contains("uvtap_build_info"));
  page.publish({sample_containers(web, 2'000), sample_self()});
  CHECK_THAT(page.text(), Contains("nodejs_eventloop_loops") && Contains("uvtap_build_info"));
  page.publish({{}, sample_self()});
  CHECK_THAT(page.text(), !Contains("nodejs_eventloop_loops"));
}

TEST_CASE("promtool has nothing to say") {
  constexpr const char* promtool = "/usr/bin/promtool";
  if (::access(promtool, X_OK) != 0) {
    WARN("skipped: " << promtool << " is not installed");
    return;
  }
  MetricsPage page;
  page.publish({sample_containers(web, 2'000), sample_self()});
  const std::string command = std::string(promtool) + " check metrics";
  const std::string text = page.text();
  FILE* pipe = ::popen(command.c_str(), "w");
  REQUIRE(pipe != nullptr);
  CHECK(std::fwrite(text.data(), 1, text.size(), pipe) == text.size());
  CHECK(::pclose(pipe) == 0);
}

}  // namespace
}  // namespace uvtap
