import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Amounts } from '../limits.js';
import type { QuotaStore, ReserveRequest } from '../store.js';

/** What the suite needs from a test runner and from the store under test. */
export interface QuotaStoreSuite {
  readonly describe: (name: string, body: () => void) => void;
  readonly it: (name: string, body: () => Promise<void>) => void;
  /** What the store is called in the titles. */
  readonly name: string;
  /** Opens a store over an empty place. `clock` is the time, in ms, that reservations have to expire by. */
  readonly open: (options: { readonly clock: () => number }) => QuotaStore | Promise<QuotaStore>;
  /** Ends what `open` began; called once for each. */
  readonly close?: (store: QuotaStore) => void | Promise<void>;
}

/** A store under test together with the time it lives in. */
interface Bench {
  readonly store: QuotaStore;
  /** Moves the clock of the store. */
  advance(ms: number): void;
}

export type Test = (title: string, body: (bench: Bench) => Promise<void>) => void;

/** An `it` whose body gets a fresh store. */
export function onFreshStore({ it, open, close }: QuotaStoreSuite): Test {
  return (title, body) =>
    it(title, async () => {
      let now = 1_700_000_000_000;
      const store = await open({ clock: () => now });
      try {
        await body({
          store,
          advance: (ms) => {
            now += ms;
          },
        });
      } finally {
        await close?.(store);
      }
    });
}

/** A request to reserve for a minute, without a default limit unless one is given. */
export function request(project: string, amounts: Amounts, more: Partial<ReserveRequest> = {}): ReserveRequest {
  const unlimited = Object.fromEntries(Object.keys(amounts).map((kind) => [kind, -1]));
  return { id: randomUUID(), project, amounts, ttlMs: 60_000, ...more, defaults: { ...unlimited, ...more.defaults } };
}

/** Counts amounts as used. */
export async function use(store: QuotaStore, project: string, amounts: Amounts): Promise<void> {
  const hold = request(project, amounts);
  assert.deepEqual(await store.reserve(hold), []);
  assert.equal(await store.settle(hold, 'commit'), true);
}

/** Counts without the kinds of which nothing is in use, which a store may or may not list. */
export async function countsOf(store: QuotaStore, project: string) {
  const counts = Object.entries(await store.counts(project));
  return Object.fromEntries(
    counts
      .filter(([, { used, reserved }]) => used !== 0 || reserved !== 0)
      .map(([kind, { used, reserved }]) => [kind, { used, reserved }]),
  );
}
