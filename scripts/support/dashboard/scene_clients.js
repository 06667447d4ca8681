// SPDX-License-Identifier: Apache-2.0
'use strict';

// The clients of the scene: `node scene_clients.js SECONDS LOADS`, LOADS as JSON: [{ port, users,
// pauseMs, path, steady }]. Each user asks, waits for the answer, pauses, and asks again. Unless the
// load is steady, users come one by one until the middle and leave after it.

const http = require('http');

const [seconds, loads] = [Number(process.argv[2]), JSON.parse(process.argv[3])];
const begin = Date.now();
const agent = new http.Agent({ keepAlive: true });

/** How much of the load there is now: 0 at both ends, 1 in the middle and for a while around it. */
function share() {
  const elapsed = (Date.now() - begin) / 1000 / seconds;
  return Math.min(1, 3 * Math.min(elapsed, 1 - elapsed));
}

function live(load, number) {
  const later = (ms) => setTimeout(() => live(load, number), ms * (0.5 + Math.random()));
  if (!load.steady && number >= load.users * share()) return later(500);
  const again = () => later(load.pauseMs);
  const options = { agent, port: load.port, path: load.path || '/' };
  http.get(options, (response) => response.resume().on('end', again)).on('error', again);
}

for (const load of loads) for (let number = 0; number < load.users; ++number) live(load, number);
