// SPDX-License-Identifier: Apache-2.0
'use strict';

// The application that the end-to-end tests watch: `node app.js LOAD` (see loads.js).
//
// It knows the truth about itself. Commands come as lines on stdin, "COMMAND [OBSERVER]"; each is
// answered by one line of JSON on stdout. It ends when stdin does.

const readline = require('readline');
const { monitorEventLoopDelay, performance } = require('perf_hooks');
const loads = require('./loads');

/** One per observer, because each has a window of its own. */
const delayMonitors = new Map();
/** One that runs from before the first window to the end. */
let longMonitor;

let load = {};

function utilization(of) {
  const { active, idle } = of.eventLoopUtilization();
  return { active_ms: active, idle_ms: idle };
}

function startMonitor() {
  const monitor = monitorEventLoopDelay({ resolution: 20 });
  monitor.enable();
  return monitor;
}

/** How often the main loop has turned; undefined before Node.js 20.18. */
function turns() {
  const { uvMetricsInfo } = performance.nodeTiming;
  return uvMetricsInfo && uvMetricsInfo.loopCount;
}

/** The delay monitor's figures in nanoseconds: [one sample below, the figure, one sample above].
 *
 * Where a window ends is uncertain by one sample: the interval in progress at its end may be in or
 * not, and Node does not record the one in progress at its begin. The long monitor has seen it. */
function delayFigures(monitor, sinceMs) {
  const samples = ((performance.now() - sinceMs) * 1e6) / monitor.mean;
  const sample = 100 / samples;
  const around = (percent) =>
    [-sample, 0, sample].map((by) => monitor.percentile(Math.min(percent + by, 100)));
  const [below] = around(100);
  const max = [below, monitor.max, Math.max(monitor.max, longMonitor.max)];
  return { p50: around(50), p95: around(95), p99: around(99), max };
}

const commands = {
  /** Both times since the loop began, when they were read, and the delay since `begin`. */
  mark(observer) {
    const workers = (load.workers || []).map((worker) => utilization(worker.performance));
    const main = utilization(performance);
    const at = Number(process.hrtime.bigint());
    const { monitor, sinceMs } = delayMonitors.get(observer) || {};
    const delay = monitor ? delayFigures(monitor, sinceMs) : {};
    return { at_ns: at, main, turns: turns(), workers, delay_ns: delay };
  },

  /** Said a little before `begin`. */
  prepare() {
    longMonitor = longMonitor || startMonitor();
    return commands.mark();
  },

  /** A mark from which the observer's delay counts. */
  begin(observer) {
    const mark = commands.mark();
    delayMonitors.set(observer, { monitor: startMonitor(), sinceMs: performance.now() });
    return mark;
  },

  stretches() {
    return { stretches: load.stretches };
  },

  title() {
    process.title = 'renamed by itself';
    return {};
  },
};

function answer(line) {
  const [command, observer] = line.split(' ');
  process.stdout.write(`${JSON.stringify(commands[command](observer))}\n`);
}

async function main() {
  const started = await loads[process.argv[2]]();
  load = typeof started === 'number' ? { port: started } : started || {};
  const lines = readline.createInterface({ input: process.stdin });
  lines.on('line', answer);
  lines.on('close', () => process.exit(0));
  process.stdout.write(`${JSON.stringify({ node: process.version, port: load.port })}\n`);
}

main();
