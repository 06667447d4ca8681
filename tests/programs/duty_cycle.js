// SPDX-License-Identifier: Apache-2.0
'use strict';

// An application that is busy for so long, then idle for so long, over and over:
//
//   node duty_cycle.js main|worker      which of its loops does the work
//
// It waits for each line "BUSY_MS PAUSE_MS" on stdin, answers it by a line, and does that from then on. Its
// busy stretches block and cost no CPU, so that a fleet of them fits on a small machine. It ends when stdin
// does.

const readline = require('readline');
const { Worker, isMainThread, parentPort } = require('worker_threads');
const { block } = require('./work');

const IDLE = { busyMs: 0, pauseMs: 100 };

function cycle() {
  let duty = IDLE;
  const again = () => {
    if (duty.busyMs > 0) block(duty.busyMs);
    setTimeout(again, duty.pauseMs);
  };
  again();
  return (next) => {
    duty = next;
  };
}

function main() {
  const worker = process.argv[2] === 'worker' ? new Worker(__filename) : undefined;
  const change = worker ? (duty) => worker.postMessage(duty) : cycle();
  const lines = readline.createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const [busyMs, pauseMs] = line.split(' ').map(Number);
    change({ busyMs, pauseMs });
    process.stdout.write('done\n');
  });
  lines.on('close', () => process.exit(0));
}

if (isMainThread) main();
else parentPort.on('message', cycle());
