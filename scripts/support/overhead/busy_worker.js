// SPDX-License-Identifier: Apache-2.0
'use strict';

// One Worker of the workload `workers`: work without end, a turn for each piece of it.

const { workerData } = require('worker_threads');

const PASSES = 10;
const { turns, number, document } = workerData;

function again() {
  for (let i = 0; i < PASSES; i++) JSON.parse(JSON.stringify(document));
  turns[number]++;
  setImmediate(again);
}

again();
