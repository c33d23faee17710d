import { type Amounts, projectQuotas, type QuotaStore } from '@apistrata/quota';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONDITION_TIMEOUT_MS } from '../../../testing/condition-timeout.js';
import { eventually } from '../../../testing/eventually.js';
import { type CuttingProxy, cuttingProxy } from './cutting-proxy.js';

export const LIMIT = 100;
const unavailable = { code: 'QUOTA_STORE_UNAVAILABLE' };

/** A store, and the properties of its server that a test needs. */
export interface Opened {
  readonly store: QuotaStore;
  /** The number of operations that were undone, or prevented before they were executed. */
  readonly undone: () => Promise<number>;
  readonly close: () => unknown;
}

/** @param port the port of a proxy in front of the server */
type Open = (url: string, port?: number) => Promise<Opened>;

interface StoreOnServer {
  readonly name: string;
  /** Returns the address of the server; empty if it is not available. */
  readonly url: () => string;
  readonly open: Open;
  /** A text in the request of a single operation. */
  readonly one: string;
  /** A text in the request that ends a transaction. */
  readonly commit: string;
  /** Whether an operation has locked its counters before the server receives the last request. */
  readonly locks: boolean;
}

/** Two connections to one store: through a proxy that can lose messages, and direct. */
export interface Ways {
  readonly proxy: CuttingProxy;
  readonly cut: Opened;
  readonly full: Opened;
  close(): Promise<void>;
}

export async function openConnections(url: string, open: Open): Promise<Ways> {
  const proxy = await cuttingProxy(Number(new URL(url).port));
  const full = await open(url);
  const cut = await open(url, proxy.port);
  const close = async () => {
    await cut.close();
    await full.close();
    await proxy.close();
  };
  return { proxy, cut, full, close };
}

export const quotaOn = ({ store }: Opened) =>
  projectQuotas({ preset: 'key-manager', store, defaults: { secrets: LIMIT, orders: 5 }, sweepIntervalMs: 0 });

/** Tests that an operation does not count if its result was lost with a connection. */
export function testLostResponses({ name, url, open, one, commit, locks }: StoreOnServer): void {
  describe(`a connection to ${name} that is cut`, () => {
    let connections: Ways | undefined;
    let proxy: CuttingProxy;
    let cut: Opened;
    let full: Opened;
    const secrets = async () => (await quotaOn(full).usage('p')).secrets!;
    const orders = async () => (await quotaOn(full).usage('p')).orders!;

    beforeEach(async (context) => {
      if (!url()) return context.skip('this server is not available on this machine');
      connections = await openConnections(url(), open);
      ({ proxy, cut, full } = connections);
      // Connects, creates the counters, and prepares or loads everything that is loaded on first use.
      const quota = quotaOn(cut);
      for (let turn = 0; turn < 2; turn++) await quota.consume('p', { secrets: 1 });
      await Promise.all([quota.consume('q', { secrets: 1 }), quota.consume('q', { orders: 1 })]);
      await loseResponse({ orders: 1 });
    });

    afterEach(() => connections?.close());

    /** Runs one more operation whose result is lost, until it is undone. */
    async function loseResponse(amounts: Amounts) {
      const before = await full.undone();
      const lost = proxy.cut('response', one);
      await expect(quotaOn(cut).consume('p', amounts)).rejects.toMatchObject(unavailable);
      await lost;
      await expect.poll(full.undone, { timeout: CONDITION_TIMEOUT_MS }).toBe(before + 1);
    }

    it('before the response leaves no usage of a consume', async () => {
      await loseResponse({ secrets: 3 });
      expect(await secrets()).toMatchObject({ used: 2, reserved: 0 });
      await loseResponse({ secrets: 4 });
      expect(await secrets()).toMatchObject({ used: 2, reserved: 0 });
      await quotaOn(cut).consume('p', { secrets: LIMIT - 2 });
      expect(await secrets()).toMatchObject({ used: LIMIT, reserved: 0 });
    });

    it('before the response leaves no usage of several kinds', async () => {
      const lost = proxy.cut('response', commit);
      await expect(quotaOn(cut).consume('p', { secrets: 3, orders: 2 })).rejects.toMatchObject(unavailable);
      await lost;
      await eventually(async () => expect([await secrets(), await orders()]).toMatchObject([{ used: 2 }, { used: 0 }]));
    });

    it('before the response leaves no usage of many consumes, and rejected ones stay rejected', async () => {
      const quota = quotaOn(cut);
      const lost = proxy.cut('response', commit);
      const many = Array.from({ length: 10 }, () => quota.consume('p', { secrets: 2, orders: 1 }));
      const outcomes = await Promise.allSettled(many);
      await lost;
      expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
      await eventually(async () => expect([await secrets(), await orders()]).toMatchObject([{ used: 2 }, { used: 0 }]));
    });

    it('before the response of an undo does not undo twice', async () => {
      const first = proxy.cut('response', one);
      const failed = expect(quotaOn(cut).consume('p', { secrets: 1 })).rejects.toMatchObject(unavailable);
      await first;
      const second = proxy.cut('response', commit);
      await failed;
      await second;
      // The undo is repeated, and the next cut must not affect its requests.
      await proxy.passed(commit);
      // Operations are undone sequentially: when this one is undone, so are all before it.
      await loseResponse({ orders: 1 });
      expect(await secrets()).toMatchObject({ used: 2, reserved: 0 });
    });

    it('before the server receives the request leaves no usage when it is delivered later', async () => {
      const lost = proxy.cut('question', one);
      await expect(quotaOn(cut).consume('p', { secrets: 3 })).rejects.toMatchObject(unavailable);
      await lost;
      const undone = () => expect.poll(full.undone, { timeout: CONDITION_TIMEOUT_MS }).toBe(2);
      // Otherwise, the undo operation waits for this operation.
      if (!locks) await undone();
      await proxy.deliver();
      await undone();
      expect(await secrets()).toMatchObject({ used: 2, reserved: 0 });
      await quotaOn(cut).consume('p', { secrets: 1 });
      expect(await secrets()).toMatchObject({ used: 3, reserved: 0 });
    });
  });
}
