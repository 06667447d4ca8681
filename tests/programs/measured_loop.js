// SPDX-License-Identifier: Apache-2.0
'use strict';

// One event loop that does so much work as it is told and knows what it has done. Node 18 and later.

const { performance } = require('perf_hooks');
const { spin } = require('./work');

/** Turns that this loop certainly made: those of the chains below. */
let chained = 0;
/** The longest link of them. */
let longestMs = 0;

function makeLink(spinMs) {
  const began = performance.now();
  spin(spinMs);
  longestMs = Math.max(longestMs, performance.now() - began);
  chained++;
}

/** Chains of setImmediate: each link is one turn. Resolves when the last chain has ended. */
function work({ chains, links, spinMs, pauseMs }) {
  return new Promise((resolve) => {
    const chain = (link) => {
      makeLink(spinMs);
      if (link < links) setImmediate(chain, link + 1);
      else if (--chains > 0) setTimeout(chain, pauseMs, 1);
      else resolve();
    };
    setImmediate(chain, 1);
  });
}

/** What the loop says of itself; `turns` is libuv's own count, null where Node does not tell it. */
function truth() {
  const { active, idle } = performance.eventLoopUtilization();
  const metrics = performance.nodeTiming.uvMetricsInfo;
  const turns = metrics ? metrics.loopCount : null;
  return { active_ms: active, idle_ms: idle, turns, chained, longest_ms: longestMs };
}

module.exports = { work, truth };
