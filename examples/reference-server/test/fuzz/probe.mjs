// Loaded into the reference server before its own code (`--import`). Reports measurements that only the process itself
// can make.
import { channel } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const TICK_MS = 5;
const SCHEDSTAT = `/proc/self/task/${process.pid}/schedstat`;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/**
 * CPU time, which other processes on a busy machine do not affect: of the main thread if available, otherwise of all
 * threads.
 */
function cpuMs() {
  if (process.threadCpuUsage) {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  }
  try {
    return Number(readFileSync(SCHEDSTAT, 'latin1').split(' ', 1)[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

let since = cpuMs();
let longest = { cpuMs: 0, requests: [] };
let begun = [];

channel('http.server.request.start').subscribe(({ request }) => {
  begun.push(`${request.method} ${request.url.slice(0, 200)} ${request.headers['openstack-api-version'] ?? ''}`);
});

/** Records the CPU time between two ticks. A long iteration of the event loop delays the next tick. */
setInterval(() => {
  const now = cpuMs();
  if (now - since > longest.cpuMs) longest = { cpuMs: now - since, requests: begun.slice(-8) };
  begun = begun.slice(-4);
  since = now;
}, TICK_MS).unref();

/** Each connection receives the measurements since the previous connection. */
createServer((socket) => {
  const reported = longest;
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  longest = { cpuMs: 0, requests: [] };
  since = cpuMs();
  socket
    .on('error', () => {})
    .end(JSON.stringify({ longest: reported, usedBytes: heapUsed + external, residentBytes: rss }));
})
  .listen(process.env.FUZZ_PROBE_SOCKET)
  .unref();
