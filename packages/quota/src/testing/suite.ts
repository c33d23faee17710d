import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Amounts } from '../limits.js';
import type { QuotaStore, ReserveRequest } from '../store.js';

/** The test runner's functions and the store under test. */
export interface QuotaStoreSuite {
  readonly describe: (name: string, body: () => void) => void;
  readonly it: (name: string, body: () => Promise<void>) => void;
  /** The name of the store in test titles. */
  readonly name: string;
  /** Opens an empty store. Reservations must expire according to `clock`, which returns the time in milliseconds. */
  readonly open: (options: { readonly clock: () => number }) => QuotaStore | Promise<QuotaStore>;
  /** Closes a store; called once for each `open`. */
  readonly close?: (store: QuotaStore) => void | Promise<void>;
}

/** A store under test, with a function that advances its clock. */
interface StoreContext {
  readonly store: QuotaStore;
  /** Advances the store's clock by some milliseconds. */
  advance(ms: number): void;
}

export type StoreTest = (title: string, body: (context: StoreContext) => Promise<void>) => void;

/** Returns a variant of `it` whose test body receives a new, empty store. */
export function testOnFreshStore({ it, open, close }: QuotaStoreSuite): StoreTest {
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

/** Creates a request that reserves amounts for a minute. Default limits are unlimited unless `overrides` contains others. */
export function reserveRequest(
  project: string,
  amounts: Amounts,
  overrides: Partial<ReserveRequest> = {},
): ReserveRequest {
  const unlimitedDefaults = Object.fromEntries(Object.keys(amounts).map((kind) => [kind, -1]));
  const defaults = { ...unlimitedDefaults, ...overrides.defaults };
  return { id: randomUUID(), project, amounts, ttlMs: 60_000, ...overrides, defaults };
}

/** Reserves and commits amounts. */
export async function useAmounts(store: QuotaStore, project: string, amounts: Amounts): Promise<void> {
  const reservation = reserveRequest(project, amounts);
  assert.deepEqual(await store.reserve(reservation), []);
  assert.equal(await store.settle(reservation, 'commit'), true);
}

/** Returns the usage of a project without kinds that are 0, which a store may include or omit. */
export async function countsOf(store: QuotaStore, project: string) {
  const counts = Object.entries(await store.counts(project));
  return Object.fromEntries(
    counts
      .filter(([, { used, reserved }]) => used !== 0 || reserved !== 0)
      .map(([kind, { used, reserved }]) => [kind, { used, reserved }]),
  );
}
