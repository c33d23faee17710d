import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../src/clock/clock.js';
import type { Driver, DriverWork } from '../src/drivers/driver.js';
import { driverVerbs } from '../src/drivers/driver-verbs.js';
import { SimulatedDriver } from '../src/drivers/simulated.js';
import type { Server } from '../src/model/index.js';
import { testDriver } from '../src/testing/index.js';
import { LedgerDriver } from './ledger-driver.js';
import { ProcessDriver } from './process-driver.js';

testDriver({ describe, it, name: 'the simulated driver', open: () => new SimulatedDriver({ clock: systemClock }) });
testDriver({
  describe,
  it,
  name: 'the simulated driver with latency',
  open: () => new SimulatedDriver({ clock: systemClock, latencyMs: 1 }),
});
testDriver({ describe, it, name: 'a driver that rejects invalid commands', open: () => new LedgerDriver() });
testDriver({
  describe,
  it,
  name: 'a driver whose machines are processes',
  open: () => new ProcessDriver(),
  close: (driver) => (driver as ProcessDriver).close(),
});

describe('the page about drivers', () => {
  it('contains, verbatim, a driver that passes this suite', () => {
    const page = readFileSync(new URL('../../../docs/writing-a-driver.md', import.meta.url), 'utf8');
    const source = readFileSync(new URL('./process-driver.ts', import.meta.url), 'utf8');
    expect(page).toContain(source);
  });

  it('names every verb', () => {
    const page = readFileSync(new URL('../../../docs/writing-a-driver.md', import.meta.url), 'utf8');
    // The table shortens the names of verbs that differ only in their beginning or end.
    const namesOf = (verb: string) => [
      verb,
      verb.replace(/^live_migration/, ''),
      verb.replace(/^(attach|detach)_.*/, '$1_…'),
    ];
    const missing = driverVerbs.filter((verb) => !namesOf(verb).some((name) => page.includes(`\`${name}\``)));
    expect(missing).toEqual([]);
  });
});

/** Returns the titles of the tests that a driver fails. */
async function failuresOf(open: () => Driver): Promise<readonly string[]> {
  const tests: (readonly [string, () => Promise<void>])[] = [];
  testDriver({ describe: (_name, body) => body(), it: (title, body) => tests.push([title, body]), name: 'it', open });
  const failed: string[] = [];
  for (const [title, body] of tests) await body().catch(() => failed.push(title));
  return failed;
}

describe('the driver suite', () => {
  it('detects drivers whose commands are not idempotent', async () => {
    class NonIdempotentDriver extends LedgerDriver {
      readonly #spawned = new Set<string>();
      override async perform(work: DriverWork, server: Server, signal: AbortSignal): Promise<void> {
        if (work.verb === 'spawn' && this.#spawned.has(server.id)) throw new Error('it already exists');
        if (work.verb === 'spawn') this.#spawned.add(server.id);
        await super.perform(work, server, signal);
      }
    }
    expect(await failuresOf(() => new NonIdempotentDriver())).toEqual([
      'boots a machine idempotently',
      'boots a machine again after it was removed',
    ]);
  });

  it('detects drivers that change the records that they receive', async () => {
    class MutatingDriver extends LedgerDriver {
      override async perform(work: DriverWork, server: Server, signal: AbortSignal): Promise<void> {
        await super.perform(work, server, signal);
        (server as { name: string }).name = 'mine';
      }
    }
    expect((await failuresOf(() => new MutatingDriver())).length).toBeGreaterThan(20);
  });

  it('detects drivers that remove the wrong machine', async () => {
    class Sweeper extends LedgerDriver {
      readonly #created: Server[] = [];
      override async perform(work: DriverWork, server: Server, signal: AbortSignal): Promise<void> {
        this.#created.push(server);
        const all = work.verb === 'destroy' ? this.#created : [server];
        for (const each of all) await super.perform(work, each, signal);
      }
    }
    expect(await failuresOf(() => new Sweeper())).toEqual(['keeps concurrent machines separate']);
  });
});
