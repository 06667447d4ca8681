// SPDX-License-Identifier: Apache-2.0
'use strict';

// One of the crowd of the chaos test: `node crowd_app.js [LIFE_MS]`. It does what lines on stdin
// tell it, answers nothing, and ends when stdin does, or after its life.

const cluster = require('cluster');
const readline = require('readline');
const { fork, spawn } = require('child_process');
const { Worker } = require('worker_threads');
const { spin } = require('./work');

const MAX_WORKERS = 3;
const CHILD_LIFE_MS = 300;
const WORKER = 'setInterval(() => {}, 5)';
const workers = [];

/** What a program is replaced by. */
const OTHER_PROGRAMS = {
  sh: ['/bin/sh', 'sh', '-c', 'sleep 2; :'],
  tail: ['/usr/bin/tail', 'tail', '-f', '/dev/null'],
  node: [process.execPath, 'node', __filename],
};

const orders = {
  workerBegins() {
    if (workers.length >= MAX_WORKERS) return orders.workerEnds();
    const worker = new Worker(WORKER, { eval: true });
    worker.on('error', () => {});
    return workers.push(worker);
  },

  workerEnds() {
    if (workers.length > 0) workers.shift().terminate();
  },

  title(title) {
    process.title = title;
  },

  spin(milliseconds) {
    spin(Number(milliseconds));
  },

  /** A child that goes on with another program at once. */
  spawn() {
    spawn('/bin/true', { stdio: 'ignore' }).on('error', () => {});
  },

  fork() {
    fork(__filename, [CHILD_LIFE_MS]).on('error', () => {});
  },

  cluster() {
    cluster.setupPrimary({ exec: __filename, args: [String(CHILD_LIFE_MS)] });
    cluster.fork().on('error', () => {});
  },

  user() {
    process.setgroups([]);
    process.setgid(65534);
    process.setuid(65534);
  },

  /** From Node.js 22 on it can replace itself. */
  exec(program) {
    if (process.execve) process.execve(OTHER_PROGRAMS[program][0], OTHER_PROGRAMS[program].slice(1));
  },
};

function obey(line) {
  const [order, detail] = line.split(' ');
  try {
    orders[order](detail);
  } catch {
    // It may lack the right by now: another order has made it another user.
  }
}

const life = Number(process.argv[2] || 0);
if (life > 0) {
  setTimeout(() => process.exit(0), life);
} else {
  const lines = readline.createInterface({ input: process.stdin });
  lines.on('line', obey);
  lines.on('close', () => process.exit(0));
}
