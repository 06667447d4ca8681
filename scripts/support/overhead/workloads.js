// SPDX-License-Identifier: Apache-2.0
'use strict';

// What the measured application does, by name. Each starts its work and returns how many units of it are
// done, and where clients can reach it if it needs them. A unit is the same work each time, whatever the
// time it takes: else a slower application would do less of it and look as cheap as before.

const fs = require('fs');
const http = require('http');
const net = require('net');
const path = require('path');
const { Worker } = require('worker_threads');
const { seededRandom } = require('../../../tests/programs/work');

const SEED = 20260701;
const TIMERS = 100;
const WORKERS = 4;
/** About 100 ms on a CPU of 2023. */
const ARTICLE_PASSES = 1000;

const document = Array.from({ length: 200 }, (_, id) => ({ id, name: `item ${id}`, tags: ['a', 'b'] }));

/** Resolves to the port. */
function listen(server) {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server.address().port));
  });
}

/** Requests of HTTP. Connections stay open, also while this process is stopped. */
async function serve(answer) {
  let requests = 0;
  const server = http.createServer({ requestTimeout: 0, headersTimeout: 0 }, async (_, response) => {
    await answer(response);
    requests++;
  });
  server.keepAliveTimeout = 0;
  return { port: await listen(server), units: () => requests };
}

function helloWorld() {
  return serve((response) => response.end('hello, world\n'));
}

/** As in the article: brief asynchronous I/O, then some 100 ms of work on the CPU. */
function article() {
  return serve(async (response) => {
    await fs.promises.readFile(__filename);
    for (let i = 0; i < ARTICLE_PASSES; i++) JSON.parse(JSON.stringify(document));
    response.end('done\n');
  });
}

/** Messages over TCP that come back as they are. */
async function pingPong() {
  let messages = 0;
  const server = net.createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (message) => {
      messages++;
      socket.write(message);
    });
  });
  return { port: await listen(server), units: () => messages };
}

/** Timers that fire each 1 to 20 ms; nothing else. */
function timers() {
  const random = seededRandom(SEED);
  let firings = 0;
  for (let i = 0; i < TIMERS; i++) setInterval(() => firings++, 1 + 19 * random());
  return { units: () => firings };
}

/** Turns that do nothing, one after the other. */
function immediates() {
  let turns = 0;
  const again = () => {
    turns++;
    setImmediate(again);
  };
  again();
  return { units: () => turns };
}

/** Workers that do a millisecond of work each turn; the main loop waits. */
async function workers() {
  const turns = new Float64Array(new SharedArrayBuffer(8 * WORKERS));
  const started = Array.from({ length: WORKERS }, (_, number) => {
    const workerData = { turns, number, document };
    const worker = new Worker(path.join(__dirname, 'busy_worker.js'), { workerData });
    return new Promise((resolve) => worker.once('online', resolve));
  });
  await Promise.all(started);
  return { units: () => turns.reduce((sum, each) => sum + each, 0) };
}

function idle() {
  return { units: () => 0 };
}

const all = {
  'hello-1': helloWorld,
  'hello-16': helloWorld,
  'hello-256': helloWorld,
  article,
  'ping-pong': pingPong,
  timers,
  immediates,
  workers,
  idle,
};

module.exports = { all, listen };
