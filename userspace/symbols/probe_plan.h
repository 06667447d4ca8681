// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/types.h>
#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bpf/loop_contract.h"
#include "userspace/symbols/image.h"
#include "userspace/symbols/libuv_layout.h"

namespace uvtap {

/// A file as the kernel knows it, below any overlay: what a uprobe is attached to. Containers of
/// one image share it though each sees another device number.
struct InodeId {
  uint32_t device = 0;
  uint64_t inode = 0;
  auto operator<=>(const InodeId&) const = default;
};

/// One file that a process maps executable.
struct LoadedImage {
  InodeId inode;
  std::string path;  ///< a path that leads to just this inode
  Image image;
  uint64_t mapped_at = 0;           ///< the start of one of its mappings
  uint64_t mapped_file_offset = 0;  ///< and what stands there
  /// Putting a probe into a file reads it under a lock that every fork of the machine needs: not
  /// where its file system may never answer.
  bool takes_probes = true;
};

/// One instruction to probe.
struct ProbeTarget {
  InodeId inode;
  std::string path;
  uint64_t file_offset = 0;
};

/// How one process is to be observed.
struct ProbePlan {
  LibuvVersion libuv_version;
  LibuvLayout layout;
  front_door door = FRONT_DOOR_NONE;
  std::optional<ProbeTarget> uv_run;   ///< the birth of loops
  std::optional<ProbeTarget> io_poll;  ///< where door is io_poll
  std::vector<ProbeTarget> epoll;      ///< where door is epoll: epoll_wait and epoll_pwait
  uint64_t default_loop_pointer = 0;   ///< in the process's memory; 0 if not known
  uint64_t node_metadata = 0;          ///< likewise
};

/// Why a process is not observed. `reason` is a label value: a few fixed words.
struct Unsupported {
  std::string reason;   ///< "not_node", "unknown_libuv", "no_front_door"
  std::string message;  ///< for a person: what it is and what would help
};

/// Which doors may be used on this machine, the best one first; just one if it is forced.
using DoorPreference = std::vector<front_door>;

struct PlanOutcome {
  std::optional<ProbePlan> plan;
  std::optional<Unsupported> unsupported;
};

/// Chooses how to observe a process from the files it maps. Neither member is set for a process
/// that has nothing to do with libuv.
[[nodiscard]] PlanOutcome plan_probes(const std::vector<LoadedImage>& images,
                                      const DoorPreference& doors);

}  // namespace uvtap
