import { fork } from 'node:child_process';
import { join } from 'node:path';

const VERSION = '2.96';

/** The secret key of every database that the benchmarks create. */
export const SECRET_KEY = Buffer.alloc(32).toString('base64');

/** Headers of every request of the compute benchmarks: an administrator at one version. */
export const HEADERS = {
  'X-Auth-Token': 'admin:demo',
  'OpenStack-API-Version': `compute ${VERSION}`,
  'Content-Type': 'application/json',
};

/** Returns the id of a server that `populate` created, by its position from 0. */
export function idOf(index) {
  const hex = (value, digits) => value.toString(16).padStart(digits, '0');
  return `5e51${hex(index >> 16, 4)}-${hex(index & 0xffff, 4)}-4000-8000-${hex(index, 12)}`;
}

/**
 * Starts a compute API in a separate process; see compute-server.worker.mjs.
 *
 * @param options the engine options; `hosts` replaces the hosts of the preset, `driver` is the name of a driver
 * @param execPath the Node executable
 */
export async function startServer(database, options = {}, execPath = process.execPath) {
  const begun = performance.now();
  const child = fork(join(import.meta.dirname, 'compute-server.worker.mjs'), [database, JSON.stringify(options)], {
    execPath,
  });
  const next = () => new Promise((resolve) => child.once('message', resolve));
  const { url, plainUrl } = await new Promise((resolve, reject) => {
    child.once('message', resolve).once('exit', (code) => reject(new Error(`the server exited with code ${code}`)));
  });
  const startMs = performance.now() - begun;
  return {
    url,
    /** The URL of the same API, served by Express's own `listen()`. */
    plainUrl,
    pid: child.pid,
    startMs,
    prepare: async (bare) => {
      child.send({ bare, version: VERSION });
      return next();
    },
    /** Creates servers by copying one; see `populateServers`. */
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
