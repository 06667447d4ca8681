# SPDX-License-Identifier: Apache-2.0
"""Builds pods as the API server shows them."""

NODE = "node-1"


def owner(kind: str, name: str, controller: bool = True) -> dict:
    """An ownerReference."""
    return {
        "apiVersion": "apps/v1", "kind": kind, "name": name,
        "uid": "0d1c9e3a-aaaa-bbbb-cccc-1f4c1a7a0c11", "controller": controller,
        "blockOwnerDeletion": True,
    }  # fmt: skip


def deployment_pod(uid: str, namespace: str, deployment: str, containers: dict[str, str], **rest):
    """A pod of a Deployment, with the names that its controllers give."""
    template_hash = "6b7f9c5d8"
    replica_set = f"{deployment}-{template_hash}"
    labels = {"app": deployment, "pod-template-hash": template_hash}
    name = f"{replica_set}-{uid[:5]}"
    return pod(uid, namespace, name, owner("ReplicaSet", replica_set), containers, labels, **rest)


def pod(
    uid: str,
    namespace: str,
    name: str,
    owned_by: dict | None = None,
    containers: dict[str, str] | None = None,
    labels: dict[str, str] | None = None,
    node: str = NODE,
    init: dict[str, str] | None = None,
    ephemeral: dict[str, str] | None = None,
    padding: int = 0,
) -> dict:
    """`containers`, `init`, `ephemeral`: name → id, "" while it has none. `padding`: so many
    characters that nobody asked for, twice as many bytes in JSON."""
    metadata = {
        "name": name, "namespace": namespace, "uid": uid,
        "creationTimestamp": "2026-01-31T12:00:00Z",
        "labels": labels or {"app": name},
        "annotations": {"kubernetes.io/config.seen": '{"uid": "not \\u0074his"}'},
        "managedFields": [_managed_fields()],
    }  # fmt: skip
    if owned_by:
        metadata["ownerReferences"] = [owner("Backup", "nightly", controller=False), owned_by]
    if padding:
        metadata["annotations"]["example.com/padding"] = "é\\\"\n" * (padding // 6)
    return {
        "metadata": metadata,
        "spec": {
            "nodeName": node,
            "containers": [_container(each) for each in containers or {}],
            "tolerations": [{"operator": "Exists", "tolerationSeconds": 300}],
        },
        "status": {
            "phase": "Running", "hostIP": "10.0.0.7", "podIP": "10.0.1.9",
            "initContainerStatuses": _statuses(init or {}),
            "containerStatuses": _statuses(containers or {}),
            "ephemeralContainerStatuses": _statuses(ephemeral or {}),
        },
    }  # fmt: skip


def full_size(pod_: dict) -> dict:
    """The same pod with as much around it as one of a service mesh has: some 10 kB."""
    pod_["metadata"]["managedFields"] *= 8
    for container in pod_["spec"]["containers"]:
        container["env"] = [{"name": f"SETTING_{n}", "value": "x" * 40} for n in range(40)]
    return pod_


def _managed_fields() -> dict:
    fields = {"f:name": {}, "f:uid": {}, "f:containerID": {}}
    return {
        "manager": "kubelet", "operation": "Update", "time": "2026-01-31T12:00:01Z",
        "fieldsV1": {
            "f:metadata": {"f:labels": {".": {}, "f:app": {}}, "f:ownerReferences": {".": {}}},
            "f:status": {"f:conditions": {'k:{"type":"Ready"}': fields}, "f:podIP": {}},
        },
    }  # fmt: skip


def _container(name: str) -> dict:
    return {
        "name": name, "image": f"registry.example.com/{name}:1.2.3",
        "resources": {"limits": {"memory": "512Mi"}, "requests": {"cpu": "250m"}},
        "env": [{"name": "uid", "value": "not this"}],
        "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets/x", "readOnly": True}],
    }  # fmt: skip


def _statuses(containers: dict[str, str]) -> list[dict]:
    return [
        {
            "name": name, "restartCount": 1, "ready": True, "started": True,
            "image": "sha256:1", "imageID": f"registry.example.com/{name}@sha256:2",
            "state": {"running": {"startedAt": "2026-01-31T12:00:01Z"}},
            "lastState": {"terminated": {"exitCode": 137, "containerID": "containerd://before"}},
        } | ({"containerID": f"containerd://{id_}"} if id_ else {})
        for name, id_ in containers.items()
    ]  # fmt: skip
