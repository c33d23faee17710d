import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { processTime } from './process-time.mjs';
import { SECRET_KEY } from './server-process.mjs';

const MAIN = join(import.meta.dirname, '../examples/reference-server/dist/main.js');
const NO_LIMITS = ['instances', 'cores', 'ram'].flatMap((kind) => ['--quota', `${kind}=-1`]);

/** Writes a preset file: the built-in preset with other hosts. Returns its path. */
export function writePreset(folder, hosts) {
  const path = join(folder, 'preset.json');
  const builtIn = JSON.parse(execFileSync(process.execPath, [MAIN, '--print-preset'], { encoding: 'utf8' }));
  writeFileSync(path, JSON.stringify({ ...builtIn, hosts }));
  return path;
}

/** Creates an empty database on a PostgreSQL server, and a connection to it. */
export async function freshDatabase(server, name) {
  const pg = createRequire(import.meta.url)('pg');
  const admin = new pg.Client(server);
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const url = server.replace(/\/[^/]*$/, `/${name}`);
  const client = new pg.Client(url);
  await client.connect();
  return { url, client };
}

/**
 * Starts the reference server, without limits on servers. Its standard output is read and discarded.
 *
 * @param args further options
 * @param flags Node options
 * @param main the main module; default: the main module in the work tree
 */
export async function startReferenceServer(database, args, { flags = [], main = MAIN } = {}) {
  const options = ['--db', database, '--port', '0', '--drain-ms', '0', '--log-format', 'json', ...NO_LIMITS, ...args];
  const child = spawn(process.execPath, [...flags, main, ...options], {
    env: { ...process.env, APISTRATA_SECRET_KEY: SECRET_KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((resolve, reject) => {
    let head = '';
    const find = (chunk) => {
      head += chunk;
      const found = /Compute API (http:\S+)\/v2\.1/.exec(head);
      if (!found) return;
      child.stdout.off('data', find).resume();
      resolve(found[1]);
    };
    child.stdout.on('data', find);
    child.once('exit', (code) => reject(new Error(`the server exited with code ${code}`)));
  });
  return {
    url,
    pid: child.pid,
    /** Returns the CPU time of all processes of the server, including the primary process, without the clients. */
    cpuMs: () => processTime(child.pid),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
