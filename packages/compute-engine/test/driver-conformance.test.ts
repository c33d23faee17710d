import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../src/clock/clock.js';
import type { Driver, DriverWork } from '../src/drivers/driver.js';
import { SimulatedDriver } from '../src/drivers/simulated.js';
import type { Server } from '../src/model/index.js';
import { sampleServer } from '../src/testing/driver/sample-server.js';
import { sequencesFor } from '../src/testing/driver/sequences.js';
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
testDriver({ describe, it, name: 'a driver that refuses what makes no sense', open: () => new LedgerDriver() });
testDriver({
  describe,
  it,
  name: 'a driver whose machines are processes',
  open: () => new ProcessDriver(),
  close: (driver) => (driver as ProcessDriver).close(),
});

describe('the page about drivers', () => {
  it('shows a driver that passes this suite, to the letter', () => {
    const page = readFileSync(new URL('../../../docs/writing-a-driver.md', import.meta.url), 'utf8');
    const source = readFileSync(new URL('./process-driver.ts', import.meta.url), 'utf8');
    expect(page).toContain(source);
  });

  it('names every verb', () => {
    const page = readFileSync(new URL('../../../docs/writing-a-driver.md', import.meta.url), 'utf8');
    const asked = sequencesFor(sampleServer(), ['a', 'b']).flatMap(({ works }) => works.map(({ verb }) => verb));
    const shortened = /^(attach|detach)_|^live_migration/;
    for (const verb of new Set(asked.filter((name) => !shortened.test(name)))) expect(page).toContain(`\`${verb}\``);
  });
});

/** Titles of the tests that a driver does not pass. */
async function failuresOf(open: () => Driver): Promise<readonly string[]> {
  const tests: (readonly [string, () => Promise<void>])[] = [];
  testDriver({ describe: (_name, body) => body(), it: (title, body) => tests.push([title, body]), name: 'it', open });
  const failed: string[] = [];
  for (const [title, body] of tests) await body().catch(() => failed.push(title));
  return failed;
}

describe('the driver suite', () => {
  it('finds drivers that cannot repeat what they did', async () => {
    class Forgetful extends LedgerDriver {
      readonly #spawned = new Set<string>();
      override async perform(work: DriverWork, server: Server, signal: AbortSignal): Promise<void> {
        if (work.verb === 'spawn' && this.#spawned.has(server.id)) throw new Error('it is there already');
        if (work.verb === 'spawn') this.#spawned.add(server.id);
        await super.perform(work, server, signal);
      }
    }
    expect(await failuresOf(() => new Forgetful())).toEqual([
      'boots a machine, and once more without harm',
      'boots a machine again after it was removed',
    ]);
  });

  it('finds drivers that change the records they are given', async () => {
    class Scribbler extends LedgerDriver {
      override async perform(work: DriverWork, server: Server, signal: AbortSignal): Promise<void> {
        await super.perform(work, server, signal);
        (server as { name: string }).name = 'mine';
      }
    }
    expect((await failuresOf(() => new Scribbler())).length).toBeGreaterThan(20);
  });

  it('finds drivers that remove the wrong machine', async () => {
    class Sweeper extends LedgerDriver {
      readonly #known: Server[] = [];
      override async perform(work: DriverWork, server: Server, signal: AbortSignal): Promise<void> {
        this.#known.push(server);
        const all = work.verb === 'destroy' ? this.#known : [server];
        for (const each of all) await super.perform(work, each, signal);
      }
    }
    expect(await failuresOf(() => new Sweeper())).toEqual(['keeps machines apart, however many there are at once']);
  });
});
