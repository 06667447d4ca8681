// SPDX-License-Identifier: Apache-2.0
'use strict';

// A closed-loop load: virtual users, each of which asks, waits for the answer, thinks, and asks again.
// `node virtual_users.js PLAN`, PLAN being JSON:
//
//   port, seed
//   stages      [[seconds, users], …]: within each the number of users goes straight to `users`
//   thinkMs     [least, most]
//   timeoutMs   what has no answer by then has failed
//
// Prints one line for each request when it is over: "STARTED_MS LATENCY_MS STATUS", STARTED_MS since
// the epoch; STATUS is that of HTTP, or 0 for none.

const http = require('http');
const { nowMs, seededRandom } = require('./work');

const { port, seed, stages, thinkMs, timeoutMs } = JSON.parse(process.argv[2]);
const LOOK_EVERY_MS = 100;

const agent = new http.Agent({ keepAlive: true });
const begin = nowMs();
let users = 0;
let over = false;
/** Users that are one too many stop by themselves; one that has not noticed yet is still here. */
const present = new Set();

/** How many users there are to be; undefined when the plan is over. */
function planned(seconds) {
  let from = stages[0][1];
  for (const [length, to] of stages) {
    if (seconds < length) return Math.round(from + ((to - from) * seconds) / length);
    seconds -= length;
    from = to;
  }
  return undefined;
}

/** Resolves to the status, 0 if there was no answer in time or none at all. */
function ask() {
  return new Promise((resolve) => {
    const request = http.get({ port, host: '127.0.0.1', agent }, (response) => {
      response.resume();
      response.once('close', () => finish(response.complete ? response.statusCode : 0));
    });
    const timer = setTimeout(() => request.destroy(), timeoutMs);
    const finish = (status) => {
      clearTimeout(timer);
      resolve(status);
    };
    request.once('error', () => finish(0));
  });
}

function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** One user, until there are to be fewer. Each has a seed of its own, so that how the others fare
 * does not change what it does. */
async function use(number) {
  const random = seededRandom(seed + number);
  const think = () => sleep(thinkMs[0] + (thinkMs[1] - thinkMs[0]) * random());
  await think();
  while (!over && number < users) {
    const started = Date.now();
    const sent = nowMs();
    const status = await ask();
    process.stdout.write(`${started} ${(nowMs() - sent).toFixed(1)} ${status}\n`);
    await think();
  }
  present.delete(number);
}

function look() {
  const now = planned((nowMs() - begin) / 1e3);
  over = now === undefined;
  users = over ? 0 : now;
  for (let number = 0; number < users; number++) {
    if (present.has(number)) continue;
    present.add(number);
    use(number);
  }
  if (over && present.size === 0) process.exit(0);
}

setInterval(look, LOOK_EVERY_MS);
