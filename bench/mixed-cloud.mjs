import { readdirSync, readFileSync } from 'node:fs';
import { inspect, inspectorPort } from './inspector.mjs';
import { processTime } from './process-time.mjs';
import { startReferenceServer, writePreset } from './reference-process.mjs';
import { startServer } from './server-process.mjs';

const PROJECTS = 1000;
/** The number of servers that may be created, changed and deleted concurrently; each has a volume in its project. */
const WRITERS = 200;
/** The number of concurrent requests that prepare the cloud. */
const CONCURRENT = 20;
const DAY_MS = 86_400_000;

const hosts = Array.from({ length: 100 }, (_, i) => ({
  name: `host${i}`,
  vcpus: 100_000,
  memoryMb: 2 ** 30,
  diskGb: 2 ** 30,
}));

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const NETWORK = '2e2b1f4c-5c58-4f0c-9a3b-0f6a5d1c7e10';
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGqt2M9JbCPRDVnbHAl7SMUhMHKsLgG7o6x7ZMCI1Mhe ada@example';

/** Values of the recorded sessions that are the same for all clients. */
const values = () => ({
  image: IMAGE,
  network: NETWORK,
  start: `${new Date(Date.now() - DAY_MS).toISOString().slice(0, 10)}T00:00:00`,
  end: `${new Date().toISOString().slice(0, 10)}T23:59:59`,
});

/** Sends a request as a project's user; returns the body of the response. */
async function send(url, project, path, body) {
  const response = await fetch(`${url}/v2.1${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      'X-Auth-Token': project === 'admin' ? 'admin:admin' : `user-of-${project}:${project}`,
      'OpenStack-API-Version': 'compute 2.35',
      'Content-Type': 'application/json',
    },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

/** Runs a function for the numbers from 0, several at a time. Returns the results in order. */
async function forEach(count, work) {
  const results = [];
  let next = 0;
  const runs = Array.from({ length: CONCURRENT }, async () => {
    while (next < count) {
      const index = next++;
      results[index] = await work(index);
    }
  });
  await Promise.all(runs);
  return results;
}

/** Returns the processes of a server: its main process, and the workers that it has started. */
export function processesOf(root) {
  const parentOf = (pid) => {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
    } catch {
      return undefined;
    }
  };
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return [root, ...all.map(Number).filter((pid) => parentOf(pid) === root)];
}

/** Resident memory of processes, in bytes. */
function residentOf(pids) {
  const of = (pid) => /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0;
  return pids.reduce((sum, pid) => sum + Number(of(pid)) * 1024, 0);
}

/**
 * Starts the reference server on a database with a number of servers, of 1,000 projects on 100 hosts. Each project's user
 * has a key pair.
 */
export async function openMixedCloud({ folder, database, databasePid, servers, args = [], inspected = false }) {
  const owners = Array.from({ length: PROJECTS }, (_, n) => ({ projectId: `p${n}`, userId: `user-of-p${n}` }));
  const first = await startServer(database, { hosts });
  await first.populate({ count: servers, owners, flavorId: '1', imageId: IMAGE });
  await first.stop();
  const preset = writePreset(folder, hosts);
  const { port, flags } = inspected ? await inspectorPort() : {};
  const server = await startReferenceServer(database, ['--preset', preset, '--max-version', 'latest', ...args], {
    flags,
  });
  const { url, pid } = server;
  await forEach(PROJECTS, (n) => send(url, `p${n}`, '/os-keypairs', { keypair: { name: 'laptop', public_key: KEY } }));
  const writers = await forEach(WRITERS, async (n) => {
    const { volume } = await send(url, `p${n}`, '/os-volumes', { volume: { size: 1 } });
    return { project: `p${n}`, volume: volume.id };
  });
  const inspector = port && (await inspect(port));
  return {
    pid,
    /** The URL of a PostgreSQL database; undefined for SQLite. */
    databaseUrl: databasePid && database,
    processes: () => processesOf(pid),
    /** The settings of the load generator. */
    load: { url, servers, projects: PROJECTS, writers, values: values() },
    usage: () => ({
      apiMs: server.cpuMs(),
      databaseMs: databasePid ? processTime(databasePid) : 0,
      memory: residentOf(processesOf(pid)),
    }),
    failedServers: async () => (await send(url, 'admin', '/servers?all_tenants=1&status=ERROR')).servers.length,
    /** Returns the size of the heap of an inspected server after a garbage collection, in bytes. */
    heapBytes: inspector?.heapBytes,
    stop: async () => {
      inspector?.close();
      await server.stop();
    },
  };
}
