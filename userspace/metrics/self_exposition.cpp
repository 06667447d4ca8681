// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string_view>

#include "userspace/metrics/exposition.h"
#include "userspace/util/front_door_name.h"

namespace uvtap {
namespace {

using prometheus::MetricType;

// Without a default: the compiler names what is missing here.
std::string_view name_of(lost_reason reason) {
  switch (reason) {
    case LOST_LOOP_UNREADABLE:
      return "loop_unreadable";
    case LOST_COUNTERS_UNREADABLE:
      return "counters_unreadable";
    case LOST_LOOPS_FULL:
      return "loops_full";
    case LOST_SHARE_FULL:
      return "share_full";
    case LOST_THREADS_FULL:
      return "threads_full";
    case LOST_SLOT_MISSING:
      return "slot_missing";
    case LOST_THREAD_REUSED:
      return "thread_reused";
    case LOST_CLOCK_BACKWARDS:
      return "clock_backwards";
    case LOST_EVENTS_FULL:
      return "events_full";
    case LOST_REASON_COUNT:
      break;
  }
  return "unknown";
}

void add_build_info(Families& families, const SelfMetrics& self) {
  FamilyBuilder family(MetricType::Gauge, "uvtap_build_info", "The version of uvtap.");
  family.add({{"version", self.version}}, 1);
  family.finish(families);
}

void add_counts(Families& families, const char* name, const char* help, const char* label,
                const std::map<std::string, uint64_t>& counts) {
  FamilyBuilder family(MetricType::Counter, name, help);
  for (const auto& [word, count] : counts) family.add({{label, word}}, static_cast<double>(count));
  family.finish(families);
}

void add_by_reason(Families& families, const char* name, const char* help,
                   const std::map<std::string, uint64_t>& counts) {
  add_counts(families, name, help, "reason", counts);
}

void add_kubernetes(Families& families, const SelfMetrics& self) {
  FamilyBuilder source(MetricType::Gauge, "uvtap_kubernetes_source",
                       "Where the names of pods come from now: api, files, none or off.");
  source.add({{"source", self.kubernetes_source}}, 1);
  source.finish(families);
  add_by_reason(families, "uvtap_kubernetes_watch_errors_total",
                "Failed requests to the Kubernetes API server, by reason.",
                self.kubernetes_watch_errors);
}

void add_processes(Families& families, const SelfMetrics& self) {
  FamilyBuilder family(MetricType::Gauge, "uvtap_processes",
                       "Node.js processes on this machine: observed, waiting for their first "
                       "loop to be seen, or unsupported.");
  family.add({{"state", "observed"}}, static_cast<double>(self.processes_observed));
  family.add({{"state", "waiting"}}, static_cast<double>(self.processes_waiting));
  family.add({{"state", "unsupported"}}, static_cast<double>(self.processes_unsupported));
  family.finish(families);
}

void add_probes(Families& families, const SelfMetrics& self) {
  FamilyBuilder hits(MetricType::Counter, "uvtap_probe_hits_total",
                     "How often a probe ran, by the way turns are observed.");
  FamilyBuilder cost(MetricType::Gauge, "uvtap_probe_cost_seconds",
                     "What one hit costs the application, measured on this machine at start.");
  for (size_t door = FRONT_DOOR_NONE + 1; door < FRONT_DOOR_COUNT; ++door) {
    const Labels labels = with_label({}, "front_door", to_string(static_cast<front_door>(door)));
    hits.add(labels, static_cast<double>(self.probe_hits[door]));
    const auto& seconds_per_hit = self.probe_cost_seconds[door];
    if (seconds_per_hit) cost.add(labels, *seconds_per_hit);
  }
  hits.finish(families);
  cost.finish(families);
}

void add_budget(Families& families, const SelfMetrics& self) {
  add_gauge(families, "uvtap_processes_over_budget",
            "Observed processes that are watched without a probe for now, because it would cost "
            "them more than --overhead-budget.",
            static_cast<double>(self.processes_over_budget));
  FamilyBuilder moves(MetricType::Counter, "uvtap_door_moves_total",
                      "Moves of a process to the memory door, to keep within --overhead-budget, "
                      "and back.");
  moves.add({{"to", "memory"}}, static_cast<double>(self.door_moves.to_memory));
  moves.add({{"to", "back"}}, static_cast<double>(self.door_moves.back));
  moves.finish(families);
}

void add_lost(Families& families, const SelfMetrics& self) {
  FamilyBuilder family(MetricType::Counter, "uvtap_lost_total",
                       "Hits and events that could not be used, by reason.");
  for (size_t reason = 0; reason < LOST_REASON_COUNT; ++reason) {
    family.add(with_label({}, "reason", name_of(static_cast<lost_reason>(reason))),
               static_cast<double>(self.lost[reason]));
  }
  family.add({{"reason", "turn_in_progress"}}, static_cast<double>(self.unreadable_looks));
  family.finish(families);
}

}  // namespace

void add_self_families(Families& families, const SelfMetrics& self) {
  add_build_info(families, self);
  add_gauge(families, "uvtap_attached_binaries",
            "Executables and libraries that carry a probe of uvtap.",
            static_cast<double>(self.attached_binaries));
  add_by_reason(families, "uvtap_attach_failures_total",
                "Probes that could not be attached, by reason.", self.attach_failures);
  add_processes(families, self);
  add_probes(families, self);
  add_budget(families, self);
  add_lost(families, self);
  add_counts(families, "uvtap_limited_total",
             "What was left out because of a limit, once a second for as long as it is.", "limit",
             self.limited);
  add_gauge(families, "uvtap_identity_unresolved",
            "Observed processes in a container whose pod is not known.",
            static_cast<double>(self.identity_unresolved));
  add_kubernetes(families, self);
}

void add_process_families(Families& families, const OwnProcess& process) {
  add_counter(families, "process_cpu_seconds_total", "CPU time that uvtap used.",
              process.cpu_seconds);
  add_gauge(families, "process_resident_memory_bytes", "Resident memory of uvtap.",
            static_cast<double>(process.resident_bytes));
  add_gauge(families, "process_virtual_memory_bytes", "Virtual memory of uvtap.",
            static_cast<double>(process.virtual_bytes));
  add_gauge(families, "process_open_fds", "File descriptors that uvtap has open.",
            static_cast<double>(process.open_fds));
  add_gauge(families, "process_max_fds", "File descriptors that uvtap may open.",
            static_cast<double>(process.max_fds));
  add_gauge(families, "process_start_time_seconds",
            "When uvtap was started, in seconds since the epoch.", process.start_time_seconds);
}

}  // namespace uvtap
