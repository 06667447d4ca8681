// SPDX-License-Identifier: Apache-2.0
#include "userspace/agent.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "userspace/identity/cgroup_owner.h"
#include "userspace/probes/privileges.h"
#include "userspace/util/monotonic_clock.h"
#include "userspace/version.h"

namespace uvtap {
namespace {

/// The kernel's events tell of every process; the scan of /proc is for those that were lost.
constexpr uint64_t scan_interval_ns = 15'000'000'000;
constexpr uint64_t one_second_ns = 1'000'000'000;

DoorPreference allowed_doors(const Config& config, const std::vector<DoorTrial>& trials) {
  if (config.forced_front_door) return {*config.forced_front_door};
  return usable_doors(trials);
}

/// Hits by front door: of observed loops, and those that were none of theirs.
std::array<uint64_t, FRONT_DOOR_COUNT> all_hits(std::array<uint64_t, FRONT_DOOR_COUNT> hits,
                                                const BpfPrograms::IgnoredCounts& ignored) {
  for (size_t counter = 0; counter < ignored.size(); ++counter)
    hits[counter / IGNORED_REASON_COUNT] += ignored[counter];
  return hits;
}

/// A forced door must work: there is no other one to take instead.
Result<void> try_forced_door(const Config& config, const std::vector<DoorTrial>& trials) {
  for (const auto& trial : trials)
    if (trial.door == config.forced_front_door && !trial.seconds_per_hit)
      return fail("the front door {} does not work here: {}", to_string(trial.door),
                  trial.seconds_per_hit.error().message);
  return {};
}

}  // namespace

Agent::Agent(const Config& config, Grouping grouping, std::unique_ptr<PodSources> sources,
             std::unique_ptr<BpfPrograms> programs, LoopTable table)
    : proc_(config.proc_root),
      looks_(owner_by_cgroup_in(proc_)),
      programs_(std::move(programs)),
      table_(std::move(table)),
      trials_(try_front_doors(*programs_, table_)),
      memory_door_(proc_, looks_, programs_->delay_resolution_ms(),
                   {programs_->max_loops(), programs_->max_loops_per_owner()}),
      processes_(std::make_unique<ObservedProcesses>(proc_, *programs_, table_, memory_door_,
                                                     looks_, allowed_doors(config, trials_))),
      reader_(table_, memory_door_, proc_, looks_, door_costs(trials_),
              programs_->delay_resolution_ms()),
      sources_(std::move(sources)),
      owners_(*sources_, grouping),
      book_(config.window_ns) {
  // A door that was asked for is kept, whatever it costs.
  if (config.overhead_budget_ratio && !config.forced_front_door)
    governor_.emplace(*config.overhead_budget_ratio, door_costs(trials_));
}

Result<std::unique_ptr<Agent>> Agent::start(const Config& config, Grouping grouping) {
  if (auto dropped = drop_unusable_privileges(); !dropped) return std::unexpected(dropped.error());
  auto loaded = BpfPrograms::load({.max_loops = config.max_loops,
                                   .max_loops_per_owner = loops_per_container(config),
                                   .delay_resolution_ms = config.delay_resolution_ns / 1'000'000});
  if (!loaded) return std::unexpected(loaded.error());
  auto programs = std::make_unique<BpfPrograms>(std::move(*loaded));
  if (auto started = programs->start_lifecycle(); !started) return std::unexpected(started.error());
  auto table = LoopTable::map(*programs);
  if (!table) return std::unexpected(table.error());
  auto sources = PodSources::start(config.kubernetes);
  if (!sources) return std::unexpected(sources.error());
  std::unique_ptr<Agent> agent(
      new Agent(config, grouping, std::move(*sources), std::move(programs), std::move(*table)));
  if (auto works = try_forced_door(config, agent->trials_); !works)
    return std::unexpected(works.error());
  auto events = LifecycleEvents::open(*agent->programs_);
  if (!events) return std::unexpected(events.error());
  agent->events_ = std::move(*events);
  const auto doors = allowed_doors(config, agent->trials_);
  if (auto dropped = drop_privileges_of_the_start(*agent->programs_, doors); !dropped)
    return std::unexpected(dropped.error());
  return agent;
}

std::vector<ContainerMetrics> Agent::tick() {
  const uint64_t now_ns = monotonic_now_ns();
  ticked_at_ns_ = now_ns;
  track_processes(now_ns);
  read_loops();
  keep_within_budget(now_ns);
  owners_.update(processes_->observed(), now_ns);
  say_whose_share_is_full(now_ns);
  return aggregate(now_ns);
}

void Agent::say_whose_share_is_full(uint64_t now_ns) {
  const uint64_t turns = programs_->lost()[LOST_SHARE_FULL];
  if (turns == std::exchange(turns_beyond_share_, turns)) return;
  for (const auto& container : table_.shares().full())
    log_.warn("share", now_ns,
              fmt::format("{} has {} loops, its share; its others are not observed: "
                          "--max-loops-per-container",
                          container.empty() ? "a process" : "container " + container,
                          programs_->max_loops_per_owner()));
}

void Agent::track_processes(uint64_t now_ns) {
  take_lifecycle_events();
  if (now_ns >= next_scan_ns_) {
    next_scan_ns_ = now_ns + scan_interval_ns;
    if (auto changes = tracker_.scan(proc_)) {
      handle(*changes, now_ns);
      processes_->read_cgroups();
      scanned_ = true;
    } else {
      spdlog::warn("the processes cannot be listed: {}", changes.error().message);
    }
  }
  processes_->look_again(now_ns);
  memory_door_.find_new_loops();
}

void Agent::take_lifecycle_events() {
  events_->take([this](const lifecycle_event& event) {
    const auto pid = static_cast<pid_t>(event.tgid);
    if (event.kind == LIFECYCLE_EXEC) tracker_.note_exec(pid);
    if (event.kind == LIFECYCLE_FORK) tracker_.note_fork(pid);
    if (event.kind == LIFECYCLE_EXIT) tracker_.note_exit(pid);
  });
}

void Agent::look_at_noted_processes() { handle(tracker_.look_at_noted(proc_), monotonic_now_ns()); }

void Agent::handle(const ProcessChanges& changes, uint64_t now_ns) {
  for (const auto& id : changes.gone) processes_->leave(id);
  for (const auto& id : changes.appeared) processes_->appear(id, now_ns);
}

void Agent::read_loops() {
  LayoutOfProcess layouts;
  for (const auto& [pid, process] : processes_->observed()) layouts[pid] = process.plan.layout;
  loops_ = reader_.snapshot(layouts);
}

void Agent::keep_within_budget(uint64_t now_ns) {
  if (!governor_) return;
  std::map<pid_t, GovernedProcess> processes;
  for (const auto& [pid, process] : processes_->observed())
    processes[pid] = {process.plan.door, process.is_spared};
  for (const auto& each : governor_->judge(now_ns, loops_, processes)) move(each);
}

void Agent::move(const Move& move) {
  const auto& process = processes_->observed().at(move.pid);
  const auto name = fmt::format("{}/{}", process.name, move.pid);
  auto moved = move.spare ? processes_->spare(move.pid) : processes_->restore(move.pid);
  if (!moved) {
    spdlog::warn("{} stays as it is observed: {}", name, moved.error().message);
  } else if (move.spare) {
    ++moves_.to_memory;
    spdlog::info("{} is observed without a probe for now: through {} it took {:.1f} % of a CPU",
                 name, to_string(process.plan.door), move.ratio * 100);
  } else {
    ++moves_.back;
    spdlog::info("{} is observed through {} again", name, to_string(process.plan.door));
  }
}

std::vector<ContainerMetrics> Agent::aggregate(uint64_t now_ns) {
  std::vector<LiveProcess> live;
  std::set<PodIdentity> held_back;
  for (const auto& [pid, process] : processes_->observed())
    live.push_back({owners_.of_process(pid), process.info});
  std::vector<PodIdentity> identities;
  identities.reserve(loops_.size());  // observed points into it
  std::vector<ObservedLoop> observed;
  for (const auto& loop : loops_) {
    observed.push_back({&loop, &identities.emplace_back(identity_of(loop))});
    if (owners_.is_held_back(loop.id.pid)) held_back.insert(identities.back());
    const auto& process = processes_->observed().at(loop.id.pid);
    if (!loop.ended) live.push_back({identities.back(), process.info});
  }
  auto containers = book_.update(now_ns, observed, live);
  std::erase_if(containers, [&](const auto& each) { return held_back.contains(each.identity); });
  // Each of them has a loop, as a rule, so that this never is the limit that is met first.
  if (const size_t limit = programs_->max_loops(); containers.size() > limit) {
    limited_containers_ += containers.size() - limit;
    containers.erase(containers.begin() + static_cast<ptrdiff_t>(limit), containers.end());
  }
  return containers;
}

std::optional<uint64_t> Agent::next_first_figures_ns() const {
  std::optional<uint64_t> next_ns;
  for (const LoopSnapshot& loop : loops_) {
    const uint64_t first_ns = loop.id.observed_since_ns + one_second_ns;
    if (first_ns > ticked_at_ns_) next_ns = std::min(first_ns, next_ns.value_or(first_ns));
  }
  return next_ns;
}

SelfMetrics Agent::self_metrics() const {
  SelfMetrics self;
  self.version = version;
  self.attached_binaries = processes_->attached_binaries();
  self.attach_failures = processes_->failures();
  if (looks_.given_up() > 0) self.attach_failures["hung"] = looks_.given_up();
  self.lost = programs_->lost();
  self.limited = {{"containers", limited_containers_},
                  {"loops_in_memory", memory_door_.limited()},
                  {"processes_per_container", processes_->over_share()},
                  {"runtimes_per_container", book_.limited_runtimes()}};
  self.lost[LOST_CLOCK_BACKWARDS] += memory_door_.restarts();
  self.unreadable_looks = reader_.unreadable();
  self.probe_hits = all_hits(reader_.hits(), programs_->ignored());
  for (const auto& trial : trials_)
    if (trial.seconds_per_hit) self.probe_cost_seconds[trial.door] = *trial.seconds_per_hit;
  self.door_moves = moves_;
  for (const auto& [pid, process] : processes_->observed())
    if (process.is_spared) ++self.processes_over_budget;
  std::set<pid_t> with_loop;
  for (const auto& loop : loops_) with_loop.insert(loop.id.pid);
  self.processes_observed = with_loop.size();
  self.processes_waiting = processes_->observed().size() - with_loop.size();
  self.processes_unsupported = processes_->unsupported().size();
  self.identity_unresolved = owners_.unresolved();
  self.kubernetes_source = sources_->current();
  self.kubernetes_watch_errors = sources_->errors();
  return self;
}

}  // namespace uvtap
