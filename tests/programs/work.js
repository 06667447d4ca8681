// SPDX-License-Identifier: Apache-2.0
'use strict';

// The pieces of work that the loads are made of. Node 16 to 26, no packages.

const fs = require('fs');
const v8 = require('v8');
const vm = require('vm');

function nowMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Keeps the thread on the CPU for that long. */
function spin(milliseconds) {
  const end = nowMs() + milliseconds;
  while (nowMs() < end);
}

/** Keeps the thread off the CPU for that long, as a slow disk does in a synchronous read. */
function block(milliseconds) {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(nobody, 0, 0, milliseconds);
}

function readFiles(count) {
  for (let i = 0; i < count; i++) fs.readFileSync(__filename);
}

/** Numbers in [0, 1), the same ones for the same seed (mulberry32). */
function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Makes objects, and keeps the latest of them long enough to outlive the young generation. */
function makeGarbage(keep, objects) {
  const batch = [];
  for (let i = 0; i < objects; i++) batch.push({ i, text: `object ${i}`, list: [i, i + 1] });
  keep.push(batch);
  if (keep.length > 20) keep.shift();
}

/** Returns a function that collects everything, as V8 does now and then by itself. */
function exposeGc() {
  v8.setFlagsFromString('--expose-gc');
  return vm.runInNewContext('gc');
}

module.exports = { nowMs, spin, block, readFiles, seededRandom, makeGarbage, exposeGc };
