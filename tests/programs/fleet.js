// SPDX-License-Identifier: Apache-2.0
'use strict';

// One of many small applications on a machine: `node fleet.js idle` turns four times a second and does
// nothing, `node fleet.js working` works 0.2 to 2 ms in each tenth of a second.

const { seededRandom, spin } = require('./work');

const random = seededRandom(process.pid);

process.stdout.write('ready\n');
if (process.argv[2] === 'working') setInterval(() => spin(0.2 + 1.8 * random()), 100);
else setInterval(() => {}, 250);
