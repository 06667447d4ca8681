// SPDX-License-Identifier: Apache-2.0
'use strict';

// What runs in a container of the end-to-end tests: `node pod_app.js ROLE COUNT`.
//
//   alone       one loop
//   cluster     a primary process and COUNT processes of a cluster
//   workers     one process with COUNT Worker threads
//
// Between commands it is quiet: no timer, no connection. Commands come as lines on stdin, "COMMAND
// [JSON]", and each is answered by one line of JSON on stdout. It ends when stdin does.

const cluster = require('cluster');
const fs = require('fs');
const readline = require('readline');
const { Worker, isMainThread, parentPort } = require('worker_threads');
const loop = require('./measured_loop');

/** The loops beside the one that reads the commands: each is a function that asks it. */
let others = [];

function perform({ command, how }) {
  return loop[command](how);
}

/** Lets a loop in another thread or process be asked, one question at a time. */
function remote(peer, send) {
  return (question) =>
    new Promise((resolve) => {
      peer.once('message', resolve);
      send(question);
    });
}

/** Answers questions from the first loop: null stands for an answer of no content. */
function answerQuestions(peer, send) {
  peer.on('message', async (question) => send((await perform(question)) || null));
}

function startWorker() {
  const worker = new Worker(__filename);
  return new Promise((resolve) => {
    worker.once('online', () => resolve(remote(worker, (message) => worker.postMessage(message))));
  });
}

function startProcess() {
  const child = cluster.fork();
  return new Promise((resolve) => {
    child.once('online', () => resolve(remote(child, (message) => child.send(message))));
  });
}

async function startOthers(role, count) {
  if (role === 'workers') return Promise.all(Array.from({ length: count }, startWorker));
  if (role === 'cluster') return Promise.all(Array.from({ length: count }, startProcess));
  return [];
}

const commands = {
  /** What every loop says of itself; the first is the main loop of the container's first process. */
  async truth() {
    const asked = others.map((ask) => ask({ command: 'truth' }));
    return { loops: [loop.truth(), ...(await Promise.all(asked))] };
  },

  /** One kind of work for each loop, in the order of `truth`. */
  async work(kinds) {
    const asked = others.map((ask, i) => ask({ command: 'work', how: kinds[i + 1] }));
    await Promise.all([loop.work(kinds[0]), ...asked]);
    return {};
  },

  /** The last process of the cluster ends. */
  async endOne() {
    const last = Object.values(cluster.workers).pop();
    others.pop();
    last.kill('SIGKILL');
    await new Promise((resolve) => last.once('exit', resolve));
    return {};
  },

  /** Calls itself what it is not. */
  async title(title) {
    process.title = title;
    return {};
  },

  /** Moves itself into a cgroup of its own making, in every hierarchy that lets it. */
  async nest(name) {
    const hierarchies = ['.', ...fs.readdirSync('/sys/fs/cgroup')];
    const moved = hierarchies.filter((each) => enterCgroup(`/sys/fs/cgroup/${each}`, name));
    return { moved, cgroup: fs.readFileSync('/proc/self/cgroup', 'utf8') };
  },
};

function enterCgroup(hierarchy, name) {
  try {
    fs.accessSync(`${hierarchy}/cgroup.procs`);
    fs.mkdirSync(`${hierarchy}/${name}`, { recursive: true });
    fs.writeFileSync(`${hierarchy}/${name}/cgroup.procs`, '0');
    return true;
  } catch {
    return false;
  }
}

async function answer(line) {
  const [, command, how] = /^(\w+) ?(.*)$/.exec(line);
  const said = await commands[command](how ? JSON.parse(how) : undefined);
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

async function main() {
  const [role, count] = process.argv.slice(2);
  others = await startOthers(role, Number(count));
  const lines = readline.createInterface({ input: process.stdin });
  lines.on('line', answer);
  lines.on('close', () => process.exit(0));
  process.stdout.write(`${JSON.stringify({ node: process.version })}\n`);
}

if (!isMainThread) answerQuestions(parentPort, (said) => parentPort.postMessage(said));
else if (cluster.isWorker) answerQuestions(process, (said) => process.send(said));
else main();
