// SPDX-License-Identifier: Apache-2.0
'use strict';

// `node prober.js PORT SECONDS PER_SECOND`: a client that sends tiny requests at random (Poisson)
// moments and measures how long each answer takes. The connections are kept alive and warm, so that
// nothing but the server's loop is waited for. Prints one line when it is warm, then starts when a
// line comes on stdin, then prints the latencies' percentiles in milliseconds.

const net = require('net');
const { nowMs } = require('./work');

const [port, seconds, perSecond] = process.argv.slice(2).map(Number);
const CONNECTIONS = 100;
const REQUEST = 'GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n';
const PERCENTS = [50, 75, 90, 95, 99];

const free = [];
const latencies = [];
let starved = 0;

/** One keep-alive connection; it carries one request at a time. */
function connect() {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(socket));
    socket.setNoDelay(true);
  });
}

/** Resolves to the milliseconds from the request to the first byte of its answer. */
function ask(socket) {
  const sent = nowMs();
  socket.write(REQUEST);
  return new Promise((resolve) => socket.once('data', () => resolve(nowMs() - sent)));
}

async function warm() {
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, connect));
  await Promise.all(sockets.map(ask));
  free.push(...sockets);
}

async function probe() {
  const socket = free.pop();
  if (socket === undefined) {
    starved++;
    return;
  }
  latencies.push(await ask(socket));
  free.push(socket);
}

function percentiles() {
  latencies.sort((a, b) => a - b);
  const at = (percent) => latencies[Math.ceil((latencies.length * percent) / 100) - 1];
  return Object.fromEntries(PERCENTS.map((percent) => [`p${percent}`, at(percent)]));
}

function finish() {
  const report = { count: latencies.length, starved, ...percentiles() };
  process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
}

/** Sends until the time is over. Each gap is drawn from the exponential distribution; the moments
 * are counted from the start, so that a late timer does not thin them out. */
function run() {
  const end = nowMs() + seconds * 1000;
  let due = nowMs();
  const next = () => {
    const now = nowMs();
    if (now >= end) return finish();
    while (due <= now) {
      probe();
      due += (-Math.log(1 - Math.random()) * 1000) / perSecond;
    }
    setTimeout(next, due - now);
  };
  next();
}

warm().then(() => {
  process.stdout.write('{}\n');
  process.stdin.once('data', run);
});
