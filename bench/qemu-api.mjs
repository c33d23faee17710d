import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { computeApi, noauth } from '@apistrata/compute-router';
import express from 'express';
import { IMAGE } from './qemu-cloud.mjs';
import { HEADERS } from './server-process.mjs';
import { importTypeScript } from './typescript-modules.mjs';

/** Maximum time until a condition is met. It only limits how long a failure takes. */
const CONDITION_TIMEOUT_MS = 120_000;

/** Returns milliseconds since the epoch, with the precision of the process clock. */
export const now = () => performance.timeOrigin + performance.now();

/** Returns the content of a file; '' if the file does not exist. */
export function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Waits until a function returns true. */
export async function until(what, isMet, intervalMs = 5) {
  for (const deadline = now() + CONDITION_TIMEOUT_MS; now() < deadline; await sleep(intervalMs))
    if (await isMet()) return;
  throw new Error(`not within ${CONDITION_TIMEOUT_MS / 1000} s: ${what}`);
}

/** Calls a function with a new folder. Then ends all processes whose arguments contain the folder, and removes it. */
export async function withFolder(work) {
  const { processesOf } = await importTypeScript('packages/qemu/test/processes-of');
  const directory = mkdtempSync(join(tmpdir(), 'ab-'));
  try {
    return await work(directory);
  } finally {
    for (const pid of processesOf(directory, '')) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The process has ended in the meantime.
      }
    }
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function send(url, method, body) {
  const response = await fetch(url, { method, headers: HEADERS, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Serves a compute API with this engine, and returns functions that send an administrator's requests to the API. */
export async function serveApi(engine) {
  const server = express()
    .use(computeApi({ engine, identity: noauth() }))
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  const servers = `http://127.0.0.1:${server.address().port}/v2.1/servers`;
  return {
    /** Creates a server, and returns its id. */
    create: async (fields = {}) => {
      const request = { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none', ...fields };
      return (await send(servers, 'POST', { server: request })).server.id;
    },
    act: (id, action, options = null) => send(`${servers}/${id}/action`, 'POST', { [action]: options }),
    read: async (id) => (await send(`${servers}/${id}`, 'GET')).server,
    list: async () => (await send(`${servers}/detail`, 'GET')).servers,
    /** Deletes all servers. */
    clear: async () => {
      for (const { id } of (await send(servers, 'GET')).servers) await send(`${servers}/${id}`, 'DELETE');
      await engine.idle();
    },
    close: async () => {
      server.close();
      await engine.close();
    },
  };
}
