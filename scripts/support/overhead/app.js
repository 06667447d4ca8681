// SPDX-License-Identifier: Apache-2.0
'use strict';

// The application whose CPU time is measured: `node app.js WORKLOAD [exporter]` (see workloads.js).
//
// The first line it prints says where it listens. Each line on stdin is answered by what it has done and
// what CPU time it has used so far, both read at the same moment. It ends when stdin does.

const http = require('http');
const readline = require('readline');
const workloads = require('./workloads');

const [name, exporter] = process.argv.slice(2);

/** The in-process way: prom-client with the article's code and its default metrics, on a port of its own. */
function startExporter() {
  const { collectDefaultMetrics, Registry } = require('prom-client');
  const expose = require('../../../tests/programs/article_metrics').start();
  const defaults = new Registry();
  collectDefaultMetrics({ register: defaults });
  const server = http.createServer(async (request, response) => {
    if (request.url === '/metrics') return expose(response);
    return response.end(await defaults.metrics());
  });
  return workloads.listen(server);
}

function mark(work) {
  const { user, system } = process.cpuUsage();
  return { units: work.units(), cpu_us: user + system, at_ns: Number(process.hrtime.bigint()) };
}

function say(answer) {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function main() {
  const metricsPort = exporter ? await startExporter() : 0;
  const work = await workloads.all[name]();
  const lines = readline.createInterface({ input: process.stdin });
  lines.on('line', () => say(mark(work)));
  lines.on('close', () => process.exit(0));
  say({ port: work.port || 0, metrics_port: metricsPort });
}

main();
