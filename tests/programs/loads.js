// SPDX-License-Identifier: Apache-2.0
'use strict';

// What the application does, by name. Loads marked "request" do their work when an HTTP request
// comes: load.py says who sends them and when. The others drive themselves.

const fs = require('fs');
const http = require('http');
const path = require('path');
const { spawnSync } = require('child_process');
const { Worker } = require('worker_threads');
const { block, exposeGc, makeGarbage, nowMs, readFiles, seededRandom, spin } = require('./work');

const SEED = 20260101;

/** Serves /ping at once, the rest through answer(response, request). Resolves to the port. */
function serve(answer) {
  const server = http.createServer((request, response) => {
    if (request.url === '/ping') response.end('ok');
    else answer(response, request);
  });
  server.keepAliveTimeout = 120000;
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server.address().port));
  });
}

/** Request. Each one is answered after synchronous work. */
function serveWork(work) {
  return serve((response) => {
    work();
    response.end('done');
  });
}

/** Request: brief asynchronous file reads. */
function lightIo() {
  return serve(async (response) => {
    await fs.promises.readFile(__filename);
    response.end('done');
  });
}

/** Request: busy stretches of 1 to 100 ms, the same twenty over and over, so that windows that are
 * not quite the same still hold the same. */
function mixed() {
  const random = seededRandom(SEED);
  const stretches = Array.from({ length: 20 }, () => 1 + 99 * random());
  let next = 0;
  return serveWork(() => spin(stretches[next++ % stretches.length]));
}

/** Request: 100 ms of work each. Requests wait in the application, which serves one per turn. */
function saturated() {
  const waiting = [];
  const serveOne = () => {
    spin(100);
    waiting.shift().end('done');
    if (waiting.length > 0) setImmediate(serveOne);
  };
  return serve((response) => {
    if (waiting.push(response) === 1) setImmediate(serveOne);
  });
}

/** Request: 80 to 120 ms of work each, in the handler, as in the article. */
function queuing() {
  const random = seededRandom(SEED);
  return serveWork(() => spin(80 + 40 * random()));
}

/** Request: renderings of 15 ms. */
function cpu() {
  return serveWork(() => spin(15));
}

/** Request: much garbage, some of it long-lived, and a full collection: V8 alone would do few of
 * them in a short window. */
function gcChurn() {
  const keep = [];
  const gc = exposeGc();
  return serveWork(() => {
    makeGarbage(keep, 20000);
    gc();
  });
}

/** Request: synchronous file reads from a slow disk. */
function syncFiles() {
  return serveWork(() => {
    readFiles(20);
    block(30);
  });
}

/** Request: a child is started and waited for. */
function spawnSyncLoad() {
  return serveWork(() => spawnSync(process.execPath, ['-e', '0']));
}

/** Turns without end, none of which waits. */
function immediateChain() {
  const again = () => {
    spin(0.05);
    setImmediate(again);
  };
  again();
}

/** Short work from JavaScript timers. */
function timers() {
  const random = seededRandom(SEED);
  const again = () => {
    spin(8 * random());
    setTimeout(again, 20 * random());
  };
  again();
}

/** The main loop idles; one Worker is busy two thirds of the time. */
function workerBusy() {
  return new Promise((resolve) => {
    const worker = new Worker(path.join(__dirname, 'busy_worker.js'));
    worker.once('online', () => resolve({ workers: [worker] }));
  });
}

/** A hundred Workers, one after the other; the application is ready when the last one has ended. */
async function workerChurn() {
  for (let i = 0; i < 100; i++) {
    const worker = new Worker('setTimeout(() => {}, 20)', { eval: true });
    await new Promise((resolve) => worker.once('exit', resolve));
  }
}

/** Busy stretches that are written down: {start_ms, end_ms}, on the clock of process.hrtime. */
function scripted() {
  const random = seededRandom(SEED);
  const script = Array.from({ length: 12 }, () => [1 + 79 * random() ** 2, 60 * random()]);
  const stretches = [];
  let next = 0;
  const again = () => {
    const [busyMs, pauseMs] = script[next++ % script.length];
    const start = nowMs();
    spin(busyMs);
    setTimeout(again, pauseMs);
    stretches.push({ start_ms: start, end_ms: nowMs() });
  };
  again();
  return { stretches };
}

/** Request: /MILLISECONDS makes the loop busy for so long. */
function stuck() {
  return serve((response, request) => {
    spin(Number(request.url.slice(1)));
    response.end('done');
  });
}

module.exports = {
  idle: () => {},
  'light-io': lightIo,
  mixed,
  saturated,
  queuing,
  cpu,
  'gc-churn': gcChurn,
  'sync-files': syncFiles,
  'spawn-sync': spawnSyncLoad,
  'immediate-chain': immediateChain,
  timers,
  'worker-busy': workerBusy,
  'worker-churn': workerChurn,
  scripted,
  stuck,
};
