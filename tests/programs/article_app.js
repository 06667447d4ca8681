// SPDX-License-Identifier: Apache-2.0
'use strict';

// The application of the scaling benchmark: `node article_app.js block|compute SEED`. Each request does
// brief asynchronous I/O, then 80 to 120 ms of synchronous work, as in the article: JSON work on the
// CPU, or a wait for something that is not the CPU, such as a slow disk.
//
// With `in-process` as third argument it also reports its event loop itself, as the article's does.
// Prints its port, and ends on SIGTERM when the requests it has are answered.

const fs = require('fs');
const http = require('http');
const { block, seededRandom } = require('./work');

const [kind, seed, metrics] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const document = Array.from({ length: 200 }, (_, id) => ({ id, name: `item ${id}`, tags: ['a', 'b'] }));

/** JSON work for that much CPU time, however long it takes to get it. */
function compute(milliseconds) {
  const begin = process.cpuUsage();
  let spent;
  do {
    JSON.parse(JSON.stringify(document));
    spent = process.cpuUsage(begin);
  } while (spent.user + spent.system < milliseconds * 1e3);
}

const work = { block, compute }[kind];
const expose = metrics === 'in-process' ? require('./article_metrics').start() : undefined;

async function answer(request, response) {
  if (request.url === '/healthz') return response.end('ok');
  if (request.url === '/metrics' && expose) return expose(response);
  await fs.promises.readFile(__filename);
  work(80 + 40 * random());
  return response.end('done\n');
}

const server = http.createServer(answer);
// Longer than the load balancer keeps a connection, so that it is never closed under a request.
server.keepAliveTimeout = 120000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.on('SIGTERM', () => server.close(() => process.exit(0)));
