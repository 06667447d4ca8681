// SPDX-License-Identifier: Apache-2.0
'use strict';

// Answers each request with a checksum over all requests so far, through a timer, the thread pool
// and a file: what a probe could disturb. It prints its port, and ends when stdin does.

const crypto = require('crypto');
const fs = require('fs');
const http = require('http');

let checksum = '';

/** The same as witness.py computes. */
function fold(request) {
  checksum = crypto.createHash('sha256').update(`${checksum}${request}`).digest('hex');
  return checksum;
}

const server = http.createServer(async (request, response) => {
  await fs.promises.stat(__filename);
  await new Promise((resolve) => setTimeout(resolve, 1));
  response.end(fold(request.url));
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.on('end', () => process.exit(0)).resume();
