# SPDX-License-Identifier: Apache-2.0
"""What a ScaledObject or a HorizontalPodAutoscaler says, defaults filled in."""

from dataclasses import dataclass
from pathlib import Path

import yaml

VALUE = "Value"
AVERAGE_VALUE = "AverageValue"
UTILIZATION = "Utilization"

TOLERANCE = 0.1  # --horizontal-pod-autoscaler-tolerance
DOWN_STABILIZATION_S = 300  # --horizontal-pod-autoscaler-downscale-stabilization


class Refused(ValueError):
    """The file is wrong, or asks for what this stand-in does not do."""


@dataclass(frozen=True)
class Trigger:
    """One metric of the HPA. `query` is empty for CPU, and `threshold` is percent then."""

    name: str
    metric_type: str
    threshold: float
    query: str = ""
    activation: float = 0.0
    ignore_nulls: bool = True

    @property
    def is_cpu(self) -> bool:
        return not self.query


@dataclass(frozen=True)
class Fallback:
    failure_threshold: int
    replicas: int
    behavior: str = "static"


@dataclass(frozen=True)
class Policy:
    kind: str  # Pods or Percent
    value: int
    period_s: int


@dataclass(frozen=True)
class Rules:
    """How fast one direction may go."""

    stabilization_s: int
    select: str  # Max, Min or Disabled
    policies: tuple[Policy, ...]
    tolerance: float = TOLERANCE


@dataclass(frozen=True)
class Behavior:
    up: Rules
    down: Rules


# pkg/apis/autoscaling/v2/defaults.go
DEFAULT_UP = Rules(0, "Max", (Policy("Pods", 4, 15), Policy("Percent", 100, 15)))
DEFAULT_DOWN = Rules(DOWN_STABILIZATION_S, "Max", (Policy("Percent", 100, 15),))


@dataclass(frozen=True)
class Scaling:
    """`behavior` is None when the file has none: the HPA then takes an older path."""

    name: str
    namespace: str
    target: str
    minimum: int  # what the file says: 0 lets KEDA end the last pod
    maximum: int
    triggers: tuple[Trigger, ...]
    fallback: Fallback | None = None
    behavior: Behavior | None = None
    polling_s: int = 30
    cooldown_s: int = 300

    @property
    def hpa_minimum(self) -> int:
        """ScaledObject.GetHPAMinReplicas: the HPA knows no zero."""
        return max(1, self.minimum)


def load(path: Path) -> Scaling:
    """The only ScaledObject or HorizontalPodAutoscaler of the file; Refused with its name."""
    documents = [each for each in yaml.safe_load_all(path.read_text()) if each]
    found = [each for each in documents if each.get("kind") in _READERS]
    if len(found) != 1:
        raise Refused(f"{path}: {len(found)} objects that scale, not one")
    try:
        return parse(found[0])
    except KeyError as missing:
        raise Refused(f"{path}: {missing} is missing") from None
    except Refused as error:
        raise Refused(f"{path}: {error}") from None


def parse(document: dict) -> Scaling:
    return _READERS[document["kind"]](document["metadata"], document["spec"])


def _scaled_object(metadata: dict, spec: dict) -> Scaling:
    advanced = spec.get("advanced", {})
    if advanced.get("scalingModifiers"):
        raise Refused("scalingModifiers are not supported")
    behavior = advanced.get("horizontalPodAutoscalerConfig", {}).get("behavior")
    triggers = enumerate(spec["triggers"])
    return Scaling(
        name=metadata["name"],
        namespace=metadata.get("namespace", ""),
        target=spec["scaleTargetRef"]["name"],
        minimum=spec.get("minReplicaCount", 0),
        maximum=spec.get("maxReplicaCount", 100),
        triggers=tuple(_trigger(index, each) for index, each in triggers),
        fallback=_fallback(spec.get("fallback")),
        behavior=_behavior(behavior),
        polling_s=spec.get("pollingInterval", 30),
        cooldown_s=spec.get("cooldownPeriod", 300),
    )


def _trigger(index: int, trigger: dict) -> Trigger:
    kind, metadata = trigger["type"], trigger["metadata"]
    name = trigger.get("name", f"s{index}-{kind}")
    if trigger.get("useCachedMetrics"):
        raise Refused(f"{name}: useCachedMetrics is not supported")
    if kind == "cpu":
        return _cpu(name, trigger.get("metricType"), metadata["value"])
    if kind != "prometheus":
        raise Refused(f"{name}: triggers of type {kind} are not supported")
    # GetMetricTargetType: AverageValue unless the trigger says otherwise.
    metric_type = trigger.get("metricType", AVERAGE_VALUE)
    if metric_type not in (VALUE, AVERAGE_VALUE):
        raise Refused(f"{name}: metricType {metric_type} is not for external metrics")
    return Trigger(
        name=name,
        metric_type=metric_type,
        threshold=_number(name, metadata["threshold"]),
        query=metadata["query"].strip(),
        activation=_number(name, metadata.get("activationThreshold", "0")),
        ignore_nulls=_truth(name, metadata.get("ignoreNullValues", "true")),
    )


def _cpu(name: str, metric_type: str | None, value: str | int) -> Trigger:
    if metric_type != UTILIZATION:
        raise Refused(f"{name}: cpu is supported with metricType Utilization only")
    return Trigger(name, UTILIZATION, _number(name, value))


def _fallback(fallback: dict | None) -> Fallback | None:
    if fallback is None:
        return None
    behavior = fallback.get("behavior", "static")
    return Fallback(fallback["failureThreshold"], fallback["replicas"], behavior)


def _hpa(metadata: dict, spec: dict) -> Scaling:
    return Scaling(
        name=metadata["name"],
        namespace=metadata.get("namespace", ""),
        target=spec["scaleTargetRef"]["name"],
        minimum=spec.get("minReplicas", 1),
        maximum=spec["maxReplicas"],
        triggers=tuple(_resource(each) for each in spec["metrics"]),
        behavior=_behavior(spec.get("behavior")),
    )


def _resource(metric: dict) -> Trigger:
    resource = metric.get("resource", {})
    if resource.get("name") != "cpu":
        raise Refused("of a HorizontalPodAutoscaler only the resource cpu is supported")
    target = resource["target"]
    return _cpu("cpu", target["type"], target.get("averageUtilization", 0))


def _behavior(behavior: dict | None) -> Behavior | None:
    if behavior is None:
        return None
    return Behavior(
        _rules(behavior.get("scaleUp"), DEFAULT_UP),
        _rules(behavior.get("scaleDown"), DEFAULT_DOWN),
    )


def _rules(rules: dict | None, default: Rules) -> Rules:
    if not rules:
        return default
    policies = tuple(
        Policy(each["type"], each["value"], each["periodSeconds"])
        for each in rules.get("policies", ())
    )
    return Rules(
        rules.get("stabilizationWindowSeconds", default.stabilization_s),
        rules.get("selectPolicy", default.select),
        policies or default.policies,
        float(rules.get("tolerance", default.tolerance)),
    )


def _number(name: str, text: str | int) -> float:
    try:
        return float(text)
    except ValueError:
        raise Refused(f"{name}: {text} is not a number") from None


def _truth(name: str, text: str) -> bool:
    if text not in ("true", "false"):
        raise Refused(f'{name}: ignoreNullValues is "{text}", not "true" or "false"')
    return text == "true"


_READERS = {"ScaledObject": _scaled_object, "HorizontalPodAutoscaler": _hpa}
