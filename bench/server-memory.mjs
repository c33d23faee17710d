import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installProgram } from './installed-program.mjs';
import { requestsPerSecond } from './load.mjs';
import { startReferenceServer } from './reference-process.mjs';
import { HEADERS } from './server-process.mjs';

/** Returns the resident memory of a process in bytes. Linux only. */
function residentBytes(pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kilobytes) * 1024;
}

/**
 * Returns the resident memory of the reference server in bytes, after a load. It is installed as users install it.
 * @param database a SQLite file that `startServer` has created
 * @param paths each is requested for the given number of seconds, all of them in each round
 */
export async function serverMemory(database, paths, { rounds, seconds }) {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-memory-'));
  try {
    const server = await startReferenceServer(database, [], { main: installProgram('server', folder) });
    for (let round = 0; round < rounds; round++)
      for (const path of paths) await requestsPerSecond(server.url + path, seconds, { headers: HEADERS });
    const bytes = residentBytes(server.pid);
    await server.stop();
    return bytes;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
