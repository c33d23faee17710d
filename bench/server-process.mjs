import { fork } from 'node:child_process';
import { join } from 'node:path';

const VERSION = '2.96';

/** Of every request of the compute benches: an administrator at one version. */
export const HEADERS = {
  'X-Auth-Token': 'admin:demo',
  'OpenStack-API-Version': `compute ${VERSION}`,
  'Content-Type': 'application/json',
};

/** Id of one of the servers that `populate` made, by its place among them from 0. */
export function idOf(index) {
  const hex = (value, digits) => value.toString(16).padStart(digits, '0');
  return `5e51${hex(index >> 16, 4)}-${hex(index & 0xffff, 4)}-4000-8000-${hex(index, 12)}`;
}

/**
 * Starts a compute API in a process of its own; see compute-server.worker.mjs.
 *
 * @param replicas addresses of those that answer what only reads
 */
export async function startServer(database, durability = 'disk', replicas = []) {
  const begun = performance.now();
  const child = fork(join(import.meta.dirname, 'compute-server.worker.mjs'), [database, durability, ...replicas], {
    execArgv: ['--expose-gc'],
  });
  const next = () => new Promise((resolve) => child.once('message', resolve));
  const { url, plainUrl } = await next();
  const startMs = performance.now() - begun;
  return {
    url,
    /** The same, as Express's own `listen()` serves it. */
    plainUrl,
    pid: child.pid,
    startMs,
    prepare: async (bare) => {
      child.send({ bare, version: VERSION });
      return next();
    },
    /** Makes servers by copying one; see `populateServers`. */
    populate: async (population) => {
      child.send({ populate: population });
      return next();
    },
    get: async (path) => (await fetch(url + path, { headers: HEADERS })).json(),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', resolve);
        child.disconnect();
      }),
  };
}
