import { memoryStore, projectQuotas, type QuotaStore } from '@apistrata/quota';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { everyStore, type OpenedStore } from './every-store.js';

/** How long a caller waits for the store. */
const TIMEOUT_MS = 5_000;

type Method = 'reserve' | 'settle' | 'consume';

/**
 * Wraps a store so that one call of a method is executed but returns late, or never.
 * @returns the store; `executed` resolves when the store has executed the call; `respond` delivers its late result
 */
function withFault(store: QuotaStore, method: Method, fault: 'late' | 'lost') {
  let respond: () => void = () => undefined;
  let isExecuted: () => void = () => undefined;
  const mayRespond = new Promise<void>((resolve) => {
    respond = resolve;
  });
  const executed = new Promise<void>((resolve) => {
    isExecuted = resolve;
  });
  let faults = 1;
  const proxy = new Proxy(store, {
    get(target, name) {
      const work = Reflect.get(target, name) as (...args: unknown[]) => unknown;
      // The failing method is half of a consume in two steps, so this store must not have `consume`.
      if (name === 'consume' && method !== 'consume') return undefined;
      if (name !== method) return work.bind(target);
      return async (...args: unknown[]) => {
        const done = await work.apply(target, args);
        if (faults-- <= 0) return done;
        isExecuted();
        if (fault === 'lost') throw new Error('connection lost');
        await mayRespond;
        return done;
      };
    },
  });
  return { store: proxy, executed, respond };
}

const cases = everyStore.flatMap((store) => (['late', 'lost'] as const).map((fault) => ({ fault, ...store })));

describe.each(cases)('a result that is $fault, with $name', ({ open, here, fault }) => {
  let opened: OpenedStore;
  beforeEach(async (context) => {
    if (!here) return context.skip('this server is not available on this machine');
    opened = await open();
  });
  afterEach(() => opened?.close());

  const quotaOn = (store: QuotaStore) =>
    projectQuotas({
      preset: 'key-manager',
      store,
      defaults: { secrets: 1 },
      storeTimeoutMs: TIMEOUT_MS,
      sweepIntervalMs: 0,
    });
  /**
   * Expects that a call fails because its store is faulty. The timeout ends after the store has executed the call,
   * however long that takes on a busy machine.
   */
  async function expectFailure(
    { store, executed }: ReturnType<typeof withFault>,
    call: (quota: ReturnType<typeof quotaOn>) => Promise<unknown>,
  ): Promise<void> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    try {
      const failed = expect(call(quotaOn(store))).rejects.toMatchObject({ code: 'QUOTA_STORE_UNAVAILABLE' });
      await executed;
      if (fault === 'late') vi.advanceTimersByTime(TIMEOUT_MS);
      await failed;
    } finally {
      vi.useRealTimers();
    }
  }
  /** Expects that nothing is counted, and the whole limit can be taken. */
  const expectNoUsage = () =>
    eventually(async () => {
      expect((await quotaOn(opened.store).usage('p')).secrets).toEqual({ used: 0, reserved: 0, limit: 1 });
    });

  it('causes the release of its reservation', async () => {
    const faulty = withFault(opened.store, 'reserve', fault);
    await expectFailure(faulty, (quota) => quota.reserve('p', { secrets: 1 }));
    faulty.respond();
    await expectNoUsage();
  });

  it.each(['reserve', 'settle'] as const)('of %s leaves no usage of a failed consume', async (method) => {
    const faulty = withFault(opened.store, method, fault);
    await expectFailure(faulty, (quota) => quota.consume('p', { secrets: 1 }));
    faulty.respond();
    await expectNoUsage();
    await quotaOn(opened.store).consume('p', { secrets: 1 });
    expect((await quotaOn(opened.store).usage('p')).secrets).toMatchObject({ used: 1, reserved: 0 });
  });

  it.runIf(fault === 'late')('of a consume in one step leaves no usage', async () => {
    const faulty = withFault(opened.store, 'consume', fault);
    await expectFailure(faulty, (quota) => quota.consume('p', { secrets: 1 }));
    expect((await quotaOn(opened.store).usage('p')).secrets).toMatchObject({ used: 1 });
    faulty.respond();
    await expectNoUsage();
  });

  it.runIf(fault === 'late')('of a rejected consume in one step changes nothing', async () => {
    await quotaOn(opened.store).consume('p', { secrets: 1 });
    const faulty = withFault(opened.store, 'consume', fault);
    await expectFailure(faulty, (quota) => quota.consume('p', { secrets: 1 }));
    faulty.respond();
    await expect(quotaOn(opened.store).consume('p', { secrets: 1 })).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect((await quotaOn(opened.store).usage('p')).secrets).toMatchObject({ used: 1, reserved: 0 });
  });

  it('of a rejection changes nothing', async () => {
    await quotaOn(opened.store).consume('p', { secrets: 1 });
    const faulty = withFault(opened.store, 'reserve', fault);
    await expectFailure(faulty, (quota) => quota.consume('p', { secrets: 1 }));
    faulty.respond();
    expect((await quotaOn(opened.store).usage('p')).secrets).toMatchObject({ used: 1, reserved: 0 });
  });
});

describe('kinds', () => {
  it.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', 'propertyIsEnumerable'])(
    'named %s are rejected by the constructor',
    (kind) => {
      const make = () => projectQuotas({ store: memoryStore(), kinds: ['secrets', kind] });
      expect(make).toThrow(`Kind "${kind}" is reserved: every object has a property with that name`);
    },
  );
});
