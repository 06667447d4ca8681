// SPDX-License-Identifier: Apache-2.0
'use strict';

// The event-loop metrics that the article's application exports, by prom-client, at its intervals.

const { monitorEventLoopDelay, performance } = require('perf_hooks');
const { Gauge, Registry } = require('prom-client');

const UTILIZATION_EVERY_MS = 2000;
const DELAY_EVERY_MS = 5000;

function start() {
  const registers = [new Registry()];
  const utilization = new Gauge({
    name: 'nodejs_eventloop_utilization', help: 'active / total time', registers,
  });
  const delay = new Gauge({
    name: 'nodejs_eventloop_delay_p95_seconds', help: 'delay of new events', registers,
  });

  let last = performance.eventLoopUtilization();
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    utilization.set(performance.eventLoopUtilization(now, last).utilization);
    last = now;
  }, UTILIZATION_EVERY_MS).unref();

  const monitor = monitorEventLoopDelay({ resolution: 20 });
  monitor.enable();
  setInterval(() => {
    const seconds = monitor.percentile(95) / 1e9;
    delay.set(seconds);
    monitor.reset();
  }, DELAY_EVERY_MS).unref();

  return async (response) => {
    response.setHeader('Content-Type', registers[0].contentType);
    response.end(await registers[0].metrics());
  };
}

module.exports = { start };
