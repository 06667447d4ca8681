// SPDX-License-Identifier: Apache-2.0
'use strict';

// One pod of the scene: `node scene_app.js ROLE`. Begins with the first line on stdin, prints its port
// as a line of JSON, and ends with stdin.
//
// Most of its work blocks instead of computing, so that the loops of many pods can be saturated on
// a machine of two CPUs.

const cluster = require('cluster');
const http = require('http');
const { performance } = require('perf_hooks');
const { Worker, isMainThread, parentPort } = require('worker_threads');

const WORKERS = 2;
const PROCESSES = 3;

function spin(ms) {
  for (const end = performance.now() + ms; performance.now() < end; );
}

function block(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

let workers = [];
let turn = 0;

const roles = {
  /** Waits for something outside, synchronously, and computes a little. */
  checkout: (reply) => (block(25 + 20 * Math.random()), spin(2), reply()),
  /** A cluster: the load is shared by processes. */
  search: (reply) => (block(8), spin(1), reply()),
  /** Hands the work to Workers; the main loop stays free. */
  thumbnails: (reply) => {
    const worker = workers[turn++ % workers.length];
    worker.once('message', reply);
    worker.postMessage('work');
  },
  /** Fast, but for a request now and then that takes seconds. */
  reports: (reply, url) => (block(url === '/large' ? 3000 : 3), reply()),
};

function serve(role, ready) {
  const server = http.createServer((request, response) => {
    roles[role](() => response.end('done'), request.url);
  });
  server.listen(0, '127.0.0.1', () => ready(server.address().port));
}

function startWorkers() {
  workers = Array.from({ length: WORKERS }, () => new Worker(__filename));
}

function report(port) {
  process.stdout.write(`${JSON.stringify({ port })}\n`);
}

function main() {
  const role = process.argv[2];
  if (role !== 'search') {
    if (role === 'thumbnails') startWorkers();
    serve(role, report);
    return;
  }
  for (let i = 0; i < PROCESSES; ++i) cluster.fork();
  // All of them share one port.
  cluster.once('message', (_, { port }) => report(port));
}

function work() {
  block(50);
  spin(4);
  parentPort.postMessage('done');
}

if (!isMainThread) parentPort.on('message', work);
else if (cluster.isWorker) serve('search', (port) => process.send({ port }));
else process.stdin.once('data', main).once('end', () => process.exit(0));
