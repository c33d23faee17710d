import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { Fuzzer } from '../fuzz/fuzzer.js';
import { operationsOf } from '../fuzz/operations.js';
import { type ProcessFigures, startProbed } from '../fuzz/probed-program.js';
import { removeServers } from '../fuzz/remove-servers.js';

/** The duration of a long run on each database in minutes, such as `SOAK_MINUTES=10`; 0 selects a short run. */
const soakMinutes = Number(process.env.SOAK_MINUTES ?? 0);
const seconds = soakMinutes > 0 ? soakMinutes * 60 : 16;
const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));

/** The number of requests of a short run, if the machine is fast enough. A long run has only a time limit. */
const REQUESTS = soakMinutes > 0 ? Number.POSITIVE_INFINITY : 3_000;
/**
 * The maximum CPU time of one turn of the event loop, during which no other request is served. Caches are filled in the
 * first half.
 */
const LONGEST_CPU_MS = { warming: 300, warm: 100 };
/** The maximum growth of caches in the second half. In a long run, any memory leak exceeds this limit. */
const GROWTH_BYTES = { used: 16 * 2 ** 20, resident: 96 * 2 ** 20 };
const ARGS = ['--log-level', 'error', ...['instances=40', 'cores=-1', 'ram=-1'].flatMap((limit) => ['--quota', limit])];

const postgresUrl = inject('postgresUrl');
const databases = [
  { name: 'a SQLite file', databaseIn: (folder: string) => join(folder, 'compute.db') },
  { name: 'PostgreSQL', databaseIn: () => freshDatabase(postgresUrl), missing: postgresUrl === '' },
];

function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function figuresOf({ usedBytes, residentBytes, longest }: ProcessFigures): string {
  return `used ${mib(usedBytes)}, resident ${mib(residentBytes)}, longest turn ${longest.cpuMs.toFixed(0)} ms of CPU`;
}

// If PostgreSQL is missing, the global set-up reports it.
describe.each(databases)('the reference server on $name', ({ databaseIn, missing = false }) => {
  const title = `handles random requests for at most ${seconds} s, with FUZZ_SEED=${seed}`;
  it.skipIf(missing)(title, { timeout: (seconds + 240) * 1000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-fuzz-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const program = await startProbed(['--db', await databaseIn(folder), ...ARGS], folder);
    onTestFinished(async () => {
      expect(await program.end('SIGTERM')).toBe(0);
    });

    const operations = await operationsOf(program.url);
    // Figures up to here are discarded, because the server is slow when it creates a description on first use.
    await program.figures();
    const fuzzer = new Fuzzer(program.url, operations, seed);
    const half = async () => {
      await fuzzer.run(REQUESTS / 2, performance.now() + seconds * 500);
      // Servers are deleted, so that both halves start with the same amount of data.
      await removeServers(program.url);
      const figures = await program.figures();
      console.log(`${fuzzer.sent} requests, ${fuzzer.succeeded.size} operations succeeded: ${figuresOf(figures)}`);
      return figures;
    };
    console.log(`FUZZ_SEED=${seed}, ${operations.length} operations`);
    const warm = await half();
    const end = await half();

    expect(fuzzer.findings).toEqual([]);
    expect(operations.filter(({ name }) => !fuzzer.called.has(name))).toEqual([]);
    // An operation whose requests are all rejected is not tested.
    expect([...fuzzer.succeeded]).toEqual(
      expect.arrayContaining(operations.filter(({ first }) => first).map(({ name }) => name)),
    );
    expect(fuzzer.succeeded.size).toBeGreaterThan(operations.length / 10);
    expect(warm.longest.cpuMs, warm.longest.requests.join('\n')).toBeLessThan(LONGEST_CPU_MS.warming);
    expect(end.longest.cpuMs, end.longest.requests.join('\n')).toBeLessThan(LONGEST_CPU_MS.warm);
    expect(end.usedBytes - warm.usedBytes).toBeLessThan(GROWTH_BYTES.used);
    expect(end.residentBytes - warm.residentBytes).toBeLessThan(GROWTH_BYTES.resident);
    // The log must not contain errors.
    expect(program.output()).not.toMatch(/"level":[56]0/);
  });
});
