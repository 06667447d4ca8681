#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stand-in for KEDA and the HPA decides as the two do. Needs no privilege and no Node.js.

A row that names a source is an example of the Kubernetes documentation ("Horizontal Pod
Autoscaling"), of KEDA's, or a case of replica_calculator_test.go (TestReplicaCalc…)."""

import json
import math
import tempfile
import unittest
from pathlib import Path

from support.scaler import Controller, CpuPod, Fleet, Hpa, parse
from support.scaler.keda import Failure, read
from support.scaler.limits import Memory, limited
from support.scaler.proposals import Tolerance, average_value, cpu, plain_value
from support.scaler.spec import Refused, load

TOLERANCE = Tolerance()
UP_AT_ONCE = {"stabilizationWindowSeconds": 0}


def scaled_object(*triggers: dict, **spec) -> dict:
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "test", "namespace": "test"},
        "spec": {
            "scaleTargetRef": {"name": "test"},
            "minReplicaCount": 1, "maxReplicaCount": 100, "triggers": list(triggers),
        } | spec,
    }  # fmt: skip


def trigger(threshold: str = "10", query: str = "a", **more) -> dict:
    metadata = {"serverAddress": "", "query": query, "threshold": threshold}
    metadata |= {name: more.pop(name) for name in list(more) if name != "metricType"}
    return {"type": "prometheus", "metadata": metadata} | more


def behavior(**directions) -> dict:
    return {"advanced": {"horizontalPodAutoscalerConfig": {"behavior": directions}}}


def steady(replicas: int) -> Fleet:
    return Fleet(wanted=replicas, existing=replicas, ready=replicas)


class Proposals(unittest.TestCase):
    def test_average_value(self):
        """(a sum, target of one pod, pods that exist) → replicas"""
        for value, target, existing, replicas in (
            (20, 5, 3, 4),  # KEDA, "metricType": 20 messages, 5 a replica
            (8.6, 2.15, 3, 4),  # …ScaleUpPerPodCMExternal
            (8.6, 2.9, 3, 3),  # …TolerancePerPodCMExternal
            (2.1, 0.7, 2, 3),  # 3.0000000000000004 in floating point
            (0.0, 0.7, 4, 0),
            (0.65, 0.7, 3, 1),  # avg() with AverageValue: whatever the fleet, never more than 2
            (1.0, 0.7, 12, 2),
        ):
            with self.subTest(value=value, target=target, existing=existing):
                self.assertEqual(average_value(value, target, existing, TOLERANCE), replicas)

    def test_value(self):
        """(an average, target, wanted, ready) → replicas"""
        for value, target, wanted, ready, replicas in (
            (200, 100, 3, 3, 6),  # documentation: 200m of 100m: twice as many
            (50, 100, 4, 4, 2),  # documentation: 50m: half as many
            (8.6, 4.4, 1, 1, 2),  # …ScaleUpCMExternal
            (8.6, 4.4, 3, 1, 2),  # …ScaleUpCMExternalIgnoresUnreadyPods: 6 if all were ready
            (0.77, 0.70, 10, 10, 10),  # the whole of what "within 10 %" covers
            (0.63, 0.70, 10, 10, 10),
            (0.771, 0.70, 10, 10, 12),
            (0.629, 0.70, 10, 10, 9),
            (3.0, 2.0, 0, 0, 2),
        ):
            with self.subTest(value=value, target=target, wanted=wanted, ready=ready):
                self.assertEqual(plain_value(value, target, wanted, ready, TOLERANCE), replicas)


def pods(*usages: int | None, request: int | None = 1000, **more) -> list[CpuPod]:
    """Pods that became ready long ago, sampled just now; None is a pod without a sample."""
    old = {"started_s": -1000.0, "ready": True, "ready_changed_s": -900.0, "sampled_s": 0.0} | more
    return [
        CpuPod(f"{len(more)}-{index}", request, usage_milli=usage, **old)
        for index, usage in enumerate(usages)
    ]


STARTING = {"ready": False, "started_s": -20.0, "ready_changed_s": -20.0}
JUST_READY = {"ready": True, "started_s": -20.0, "ready_changed_s": -5.0}


class Cpu(unittest.TestCase):
    """Target in percent of the request. Names in comments: replica_calculator_test.go."""

    def check(self, replicas: int, fleet: list[CpuPod], target: float, wanted: int | None = None):
        wanted = len(fleet) if wanted is None else wanted
        self.assertEqual(cpu(fleet, target, wanted, 0.0, TOLERANCE), replicas)

    def test_up_and_down(self):
        self.check(5, pods(300, 500, 700), 30)  # …ScaleUp
        self.check(3, pods(100, 300, 500, 250, 250), 50)  # …ScaleDown

    def test_percents_are_whole(self):
        """0.709 of the request is 70 %: within the tolerance of 64 %, and 0.71 is not."""
        self.check(10, pods(*[709] * 10), 64)
        self.check(12, pods(*[710] * 10), 64)

    def test_starting_pods_soften_the_way_up(self):
        self.check(4, pods(300, **STARTING) + pods(500, 700), 30)  # …ScaleUpUnreadyLessScale
        self.check(3, pods(400) + pods(500, 700, **STARTING), 30)  # …ScaleUpUnreadyNoScale
        self.check(4, pods(300, running=False) + pods(500, 700), 30)

    def test_a_sample_from_before_it_was_ready_does_not_count(self):
        self.check(4, pods(300, **JUST_READY) + pods(500, 700), 30)  # …ScaleUpHotCpuLessScale

    def test_missing_samples(self):
        """Busy on the way down, idle on the way up, and no turning around."""
        self.check(3, pods(400, 95, None, None), 100)  # …MissingMetrics
        self.check(4, pods(400, 95, None, None), 50)
        self.check(4, pods(900, 1000, None), 50)
        self.check(3, pods(700, 700, None), 50)

    def test_ending_pods_are_left_out(self):
        """…ScaleUpIgnoresDeletionPods"""
        self.check(4, pods(500, 700) + pods(None, None, ending=True), 30, wanted=2)

    def test_nothing_to_go_by(self):
        """The article's <unknown>: no request; and no sample yet."""
        for fleet in (pods(300, request=None), pods(None, None), pods(300, **STARTING)):
            self.assertIsInstance(cpu(fleet, 50, 2, 0.0, TOLERANCE), Failure)


class Limits(unittest.TestCase):
    def walk(self, scaling, replicas: int, wish: int, steps: int, every_s: float) -> list[int]:
        """The fleet after each of so many syncs with the same wish."""
        memory, walked = Memory([(0.0, wish)]), []
        for step in range(steps):
            now_s = step * every_s
            wanted, replicas = replicas, limited(scaling, memory, now_s, replicas, wish)
            memory.scaled(now_s, wanted, replicas)
            walked.append(replicas)
        return walked

    def scaling(self, **directions):
        return parse(scaled_object(trigger(), **(behavior(**directions) if directions else {})))

    def test_documented_policies_down(self):
        """Documentation: of 80 replicas 10 % a minute go, of 40 and fewer 4."""
        down = {
            "stabilizationWindowSeconds": 0,
            "policies": [
                {"type": "Pods", "value": 4, "periodSeconds": 60},
                {"type": "Percent", "value": 10, "periodSeconds": 60},
            ],
        }
        walked = self.walk(self.scaling(scaleDown=down), 80, 10, 4, 60)
        self.assertEqual(walked, [72, 64, 57, 51])
        self.assertEqual(self.walk(self.scaling(scaleDown=down), 40, 10, 3, 60), [36, 32, 28])
        smallest = down | {"selectPolicy": "Min"}
        self.assertEqual(self.walk(self.scaling(scaleDown=smallest), 80, 10, 2, 60), [76, 72])

    def test_a_period_counts_all_that_was_changed_in_it(self):
        down = {
            "stabilizationWindowSeconds": 0,
            "policies": [{"type": "Pods", "value": 4, "periodSeconds": 60}],
        }
        walked = self.walk(self.scaling(scaleDown=down), 20, 1, 6, 15)
        self.assertEqual(walked, [16, 16, 16, 16, 12, 12])

    def test_disabled(self):
        scaling = self.scaling(scaleDown={"selectPolicy": "Disabled"})
        self.assertEqual(self.walk(scaling, 20, 1, 2, 400), [20, 20])

    def test_defaults_up(self):
        """Four pods or twice as many each 15 s, whichever is more."""
        scaling = self.scaling(scaleUp=UP_AT_ONCE)
        self.assertEqual(self.walk(scaling, 1, 100, 5, 15), [5, 10, 20, 40, 80])
        self.assertEqual(self.walk(scaling, 1, 100, 3, 5), [5, 5, 5])

    def test_without_behavior(self):
        """At most twice as many at a sync, but four in any case."""
        self.assertEqual(self.walk(self.scaling(), 1, 100, 4, 15), [4, 8, 16, 32])

    def test_window_down(self):
        """The largest wish of the window counts: 300 s unless the file says otherwise."""
        minute = {"stabilizationWindowSeconds": 60}
        rows = [({}, 300), ({"scaleUp": UP_AT_ONCE}, 300), ({"scaleDown": minute}, 60)]
        for directions, after_s in rows:
            with self.subTest(**directions):
                memory = Memory([(0.0, 10)])
                scaling = self.scaling(**directions)
                self.assertEqual(limited(scaling, memory, after_s - 1, 10, 2), 10)
                self.assertEqual(limited(scaling, memory, after_s, 10, 2), 2)

    def test_window_up(self):
        """The smallest wish of the window counts; a blip is none."""
        scaling = self.scaling(scaleUp={"stabilizationWindowSeconds": 30})
        memory = Memory([(0.0, 2)])
        wishes = [(15.0, 8), (30.0, 6), (45.0, 7), (60.0, 7)]
        walked = [limited(scaling, memory, now_s, 2, wish) for now_s, wish in wishes]
        self.assertEqual(walked, [2, 6, 6, 6])

    def test_minimum_and_maximum(self):
        scaling = parse(scaled_object(trigger(), minReplicaCount=2, maxReplicaCount=20))
        self.assertEqual(limited(scaling, Memory(), 0.0, 12, 100), 20)
        self.assertEqual(limited(scaling, Memory(), 0.0, 12, 0), 2)


class Nulls(unittest.TestCase):
    def read(self, values, **more):
        (only,) = parse(scaled_object(trigger(**more))).triggers
        return read(values, only)

    def test_by_default_they_are_zero(self):
        """keda 3065"""
        for values in ([], [math.nan], [math.inf], [-math.inf]):
            self.assertEqual(self.read(values), 0.0)

    def test_they_can_be_errors(self):
        for values in ([], [math.nan], [math.inf]):
            self.assertIsInstance(self.read(values, ignoreNullValues="false"), Failure)

    def test_several_series_always_are(self):
        self.assertIsInstance(self.read([1.0, 2.0]), Failure)

    def test_values_travel_with_three_digits_and_no_sign(self):
        self.assertEqual(self.read([0.12351]), 0.124)
        self.assertEqual(self.read([-3.0]), 0.0)


class Decisions(unittest.TestCase):
    def decide(self, scaling: dict, fleet: Fleet, *readings, syncs: int = 1):
        """The last of so many decisions with these readings, in the order of the triggers."""
        hpa = Hpa(parse(scaling))
        names = [each.name for each in hpa.scaling.triggers]
        for sync in range(syncs):
            decision = hpa.decide(15.0 * sync, fleet, dict(zip(names, readings)))
        return decision

    def test_the_largest_wish_wins(self):
        two = scaled_object(trigger("10"), trigger("1", metricType="Value"))
        self.assertEqual(self.decide(two, steady(4), 55.0, 1.5).replicas, 6)
        self.assertEqual(self.decide(two, steady(4), 75.0, 1.5).replicas, 8)

    def test_with_one_failure_it_only_grows(self):
        two = scaled_object(trigger("10"), trigger("1"))
        self.assertEqual(self.decide(two, steady(4), Failure(""), 6.0).replicas, 6)
        held = self.decide(two, steady(4), Failure("gone"), 1.0, syncs=50)
        self.assertEqual((held.replicas, held.wish), (4, None))
        self.assertIn("gone", held.why)

    def test_with_nothing_but_failures_it_holds(self):
        one = scaled_object(trigger("10"))
        self.assertEqual(self.decide(one, steady(4), Failure(""), syncs=50).replicas, 4)

    def test_outside_of_the_bounds(self):
        """Metrics are not looked at."""
        bounded = scaled_object(trigger("10"), minReplicaCount=3, maxReplicaCount=5)
        self.assertEqual(self.decide(bounded, steady(2), 500.0).replicas, 3)
        self.assertEqual(self.decide(bounded, steady(9), 0.0).replicas, 5)

    def fallback(self, how: str, kind: str, replicas: int, fleet: Fleet, syncs: int = 4):
        fallback = {"failureThreshold": 3, "replicas": replicas, "behavior": how}
        one = scaled_object(trigger("0.7", metricType=kind), fallback=fallback)
        return self.decide(one, fleet, Failure(""), syncs=syncs).replicas

    def test_fallback(self):
        """Both metric types arrive at the replicas that are meant, for all pods ready or not."""
        for kind in ("AverageValue", "Value"):
            for fleet in (steady(6), Fleet(wanted=6, existing=6, ready=4)):
                with self.subTest(kind=kind, ready=fleet.ready):
                    self.assertEqual(self.fallback("currentReplicas", kind, 2, fleet), 6)
                    self.assertEqual(self.fallback("static", kind, 10, fleet), 10)
                    self.assertEqual(self.fallback("currentReplicasIfHigher", kind, 9, fleet), 9)
                    self.assertEqual(self.fallback("currentReplicasIfLower", kind, 9, fleet), 6)

    def test_fallback_waits_for_the_threshold(self):
        """More failures than the threshold: the fourth acts."""
        self.assertEqual(self.fallback("static", "AverageValue", 10, steady(6), syncs=3), 6)
        self.assertEqual(self.fallback("static", "AverageValue", 10, steady(6), syncs=4), 10)

    def test_fallback_of_value_needs_a_ready_pod(self):
        none = Fleet(wanted=6, existing=6, ready=0)
        self.assertEqual(self.fallback("static", "Value", 10, none), 6)

    def test_a_success_forgets_failures(self):
        fallback = {"failureThreshold": 1, "replicas": 10}
        hpa = Hpa(parse(scaled_object(trigger("10"), fallback=fallback)))
        readings = [Failure(""), 60.0, Failure(""), Failure("")]
        decided = [
            hpa.decide(15.0 * sync, steady(6), {"s0-prometheus": reading}).replicas
            for sync, reading in enumerate(readings)
        ]
        self.assertEqual(decided, [6, 6, 6, 10])


class Ticks(unittest.TestCase):
    def test_when_it_asks(self):
        asked = []
        controller = Controller(
            parse(scaled_object(trigger("10"))), lambda query: asked.append(query) or [60.0]
        )
        due = [controller.tick(now_s, steady(6)) is not None for now_s in (0, 14, 15, 29, 30)]
        self.assertEqual(due, [True, False, True, False, True])
        self.assertEqual(len(asked), 3)

    def around_zero(self, minimum: int, wanted: int, *values: float) -> list[int]:
        """The fleet after each poll of 30 s."""
        spec = scaled_object(
            trigger("10", activationThreshold="5"),
            minReplicaCount=minimum, cooldownPeriod=60, pollingInterval=30,
        )  # fmt: skip
        answers = iter(values)
        controller = Controller(parse(spec), lambda query: [next(answers)], sync_s=30.0)
        walked = []
        for index in range(len(values)):
            wanted = controller.tick(30.0 * index, steady(wanted)).replicas
            walked.append(wanted)
        return walked

    def test_activation_and_cooldown(self):
        self.assertEqual(self.around_zero(0, 0, 5.0, 5.1, 1.0, 1.0, 1.0), [0, 1, 1, 1, 0])

    def test_neither_matters_with_a_minimum(self):
        self.assertEqual(self.around_zero(1, 1, *[0.0] * 5), [1] * 5)
        self.assertEqual(self.around_zero(2, 2, *[0.0] * 5), [2] * 5)


class Files(unittest.TestCase):
    def refusal(self, text: str) -> str:
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            with self.assertRaises(Refused) as refused:
                load(Path(file.name))
        return str(refused.exception)

    def test_what_is_wrong_is_said(self):
        kafka = {"type": "kafka", "metadata": {}}
        for document, words in (
            ({"kind": "Deployment"}, "0 objects that scale"),
            (scaled_object(kafka), "triggers of type kafka"),
            (scaled_object(trigger("ten")), "ten is not a number"),
            (scaled_object(trigger(ignoreNullValues="no")), 'ignoreNullValues is "no"'),
            (scaled_object(trigger(metricType="Utilization")), "metricType Utilization"),
            (scaled_object({"type": "prometheus", "metadata": {}}), "'threshold' is missing"),
        ):
            with self.subTest(words=words):
                self.assertIn(words, self.refusal(json.dumps(document)))

    def test_an_hpa_on_cpu(self):
        resource = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}
        scaling = parse({
            "kind": "HorizontalPodAutoscaler", "metadata": {"name": "cpu"},
            "spec": {
                "scaleTargetRef": {"name": "test"}, "minReplicas": 2, "maxReplicas": 20,
                "metrics": [{"type": "Resource", "resource": resource}],
            },
        })  # fmt: skip
        fleet = Fleet(2, 2, 2, tuple(pods(1000, 1000)))
        self.assertEqual(Hpa(scaling).decide(0.0, fleet, {}).replicas, 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
