import { readFileSync } from 'node:fs';
import { load } from './load.mjs';
import { startReferenceServer } from './reference-process.mjs';
import { HEADERS } from './server-process.mjs';

/** Returns the resident memory of a process in bytes. Linux only. */
function residentBytes(pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kilobytes) * 1024;
}

/**
 * Returns the resident memory of the reference server in bytes, after its start (`idle`) and after a load (`loaded`).
 * @param database a SQLite file that `startServer` has created
 * @param options.main the main module of the installed server
 * @param options.flags Node options
 * @param options.requests the number of requests of one round, by path
 */
export async function serverMemory(database, { main, flags, rounds, requests }) {
  const server = await startReferenceServer(database, [], { main, flags });
  try {
    const idle = residentBytes(server.pid);
    for (let round = 0; round < rounds; round++)
      for (const [path, amount] of Object.entries(requests))
        await load(server.url + path, { amount, headers: HEADERS });
    return { idle, loaded: residentBytes(server.pid) };
  } finally {
    await server.stop();
  }
}
