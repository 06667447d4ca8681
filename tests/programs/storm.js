// SPDX-License-Identifier: Apache-2.0
'use strict';

// An application whose loop turns as fast as it can, or hardly at all:
//
//   node storm.js
//
// It takes the lines "storm" and "calm" on stdin and answers each, and "tell", with what it knows of
// itself. It ends when stdin does.

const { performance } = require('perf_hooks');
const readline = require('readline');

let storming = false;
let turns = 0;

function turn() {
  turns++;
  if (storming) setImmediate(turn);
}

/** A little work now and then, so that there is something to see in calm as well. */
setInterval(() => {}, 20);

const lines = readline.createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (line === 'storm' && !storming) setImmediate(turn);
  if (line !== 'tell') storming = line === 'storm';
  const { active, idle } = performance.eventLoopUtilization();
  const answer = { turns, active_ms: active, idle_ms: idle, at_ms: performance.now() };
  process.stdout.write(JSON.stringify(answer) + '\n');
});
lines.on('close', () => process.exit(0));
