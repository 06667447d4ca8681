// SPDX-License-Identifier: Apache-2.0
'use strict';

// A small HTTP application that is busy in several ways, and the clients that make it so. One
// process for each way, so that `uvtap top` shows them side by side.

const fs = require('fs');
const http = require('http');
const { fork } = require('child_process');
const { performance } = require('perf_hooks');
const { Worker, isMainThread } = require('worker_threads');

function spin(ms) {
  for (const end = performance.now() + ms; performance.now() < end; );
}

function block(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const ways = {
  /** Brief asynchronous work: the loop mostly waits. */
  calm: { clients: 4, pauseMs: 20, answer: (reply) => fs.readFile(__filename, () => reply()) },
  /** 80 to 120 ms of computing per request, requests queue: the article's application. */
  computing: { clients: 8, pauseMs: 50, answer: (reply) => (spin(80 + 40 * Math.random()), reply()) },
  /** Blocked without using the CPU: no CPU graph shows this one. */
  blocking: { clients: 3, pauseMs: 30, answer: (reply) => (block(60), reply()) },
  /** Fast until a request comes that takes seconds: watch the stall grow. */
  stalling: { clients: 1, pauseMs: 4000, answer: (reply) => (spin(3000), reply()) },
};

function keepAsking(port, pauseMs) {
  const again = () => setTimeout(() => keepAsking(port, pauseMs), pauseMs * (0.5 + Math.random()));
  http.get({ port }, (response) => response.resume().on('end', again)).on('error', again);
}

function serve(name) {
  process.title = `demo-${name}`;
  const { answer, clients, pauseMs } = ways[name];
  const server = http.createServer((request, response) => answer(() => response.end('done')));
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port, clients, pauseMs }));
  process.on('disconnect', () => process.exit());
  // One of them also keeps a Worker busy, which its main loop does not feel.
  if (name === 'calm') new Worker(__filename);
}

if (!isMainThread) {
  setInterval(() => spin(70), 100);
} else if (process.argv[2]) {
  serve(process.argv[2]);
} else {
  for (const name of Object.keys(ways)) {
    fork(__filename, [name], { execArgv: [] }).on('message', ({ port, clients, pauseMs }) => {
      for (let i = 0; i < clients; ++i) keepAsking(port, pauseMs);
    });
  }
}
