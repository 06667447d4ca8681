// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "userspace/identity/kube_access.h"
#include "userspace/util/result.h"

namespace uvtap {

/// "https://10.0.0.1:443"; brackets around IPv6. Fails on what is neither a name nor an address.
[[nodiscard]] Result<std::string> kube_base_url(const KubernetesAccess& access);

/// Whether a node can have this name.
[[nodiscard]] bool is_node_name(std::string_view name);

/// The path and query of a list of a node's pods: of what the API server has at hand, which may be
/// a little old, or `newest`, which costs it a question to etcd.
[[nodiscard]] std::string list_request(std::string_view node_name, bool newest);
/// Of a watch of them from a version on, which the server is to end after `duration`.
[[nodiscard]] std::string watch_request(std::string_view node_name, std::string_view version,
                                        std::chrono::seconds duration);

/// The token of a service account, read anew. Fails on what cannot be put into a header.
[[nodiscard]] Result<std::string> read_token(const std::string& path);

}  // namespace uvtap
