import { memoryStore, projectQuotas, type QuotaStore } from '@apistrata/quota';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { everyStore, type OpenedStore } from './every-store.js';

type Method = 'reserve' | 'settle' | 'consume';

/** A store that does one call of a method and answers late, or not at all. */
function faulty(store: QuotaStore, method: Method, fault: 'late' | 'lost') {
  let answer: () => void = () => undefined;
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let faults = 1;
  const proxy = new Proxy(store, {
    get(target, name) {
      const work = Reflect.get(target, name) as (...args: unknown[]) => unknown;
      // What fails is half of a consume in two steps, of a store that has it in no other way.
      if (name === 'consume' && method !== 'consume') return undefined;
      if (name !== method) return work.bind(target);
      return async (...args: unknown[]) => {
        const done = await work.apply(target, args);
        if (faults-- <= 0) return done;
        if (fault === 'lost') throw new Error('connection lost');
        await mayAnswer;
        return done;
      };
    },
  });
  return { store: proxy, answer };
}

const cases = everyStore.flatMap((store) => (['late', 'lost'] as const).map((fault) => ({ fault, ...store })));

describe.each(cases)('an answer that is $fault, with $name', ({ open, here, fault }) => {
  let opened: OpenedStore;
  beforeEach(async (context) => {
    if (!here) return context.skip('no such server on this machine');
    opened = await open();
  });
  afterEach(() => opened?.close());

  const quotaOn = (store: QuotaStore, storeTimeoutMs?: number) =>
    projectQuotas({ store, defaults: { secrets: 1 }, storeTimeoutMs, sweepEveryMs: 0 });
  const unavailable = { code: 'QUOTA_STORE_UNAVAILABLE' };
  /** Nothing is counted, and the whole limit can be taken. */
  const expectNothing = () =>
    eventually(async () => {
      expect((await quotaOn(opened.store).usage('p')).secrets).toEqual({ used: 0, reserved: 0, limit: 1 });
    });

  it('releases the reservation that nobody has', async () => {
    const { store, answer } = faulty(opened.store, 'reserve', fault);
    await expect(quotaOn(store, 20).reserve('p', { secrets: 1 })).rejects.toMatchObject(unavailable);
    answer();
    await expectNothing();
  });

  it.each(['reserve', 'settle'] as const)('of %s counts nothing of a consume that failed', async (method) => {
    const { store, answer } = faulty(opened.store, method, fault);
    await expect(quotaOn(store, 20).consume('p', { secrets: 1 })).rejects.toMatchObject(unavailable);
    answer();
    await expectNothing();
    await quotaOn(opened.store).consume('p', { secrets: 1 });
    expect((await quotaOn(opened.store).usage('p')).secrets).toMatchObject({ used: 1, reserved: 0 });
  });

  it.runIf(fault === 'late')('of a consume in one step counts nothing', async () => {
    const { store, answer } = faulty(opened.store, 'consume', fault);
    await expect(quotaOn(store, 20).consume('p', { secrets: 1 })).rejects.toMatchObject(unavailable);
    expect((await quotaOn(opened.store).usage('p')).secrets).toMatchObject({ used: 1 });
    answer();
    await expectNothing();
  });

  it.runIf(fault === 'late')('of a consume in one step that was refused changes nothing', async () => {
    await quotaOn(opened.store).consume('p', { secrets: 1 });
    const { store, answer } = faulty(opened.store, 'consume', fault);
    await expect(quotaOn(store, 20).consume('p', { secrets: 1 })).rejects.toMatchObject(unavailable);
    answer();
    await expect(quotaOn(opened.store).consume('p', { secrets: 1 })).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect((await quotaOn(opened.store).usage('p')).secrets).toMatchObject({ used: 1, reserved: 0 });
  });

  it('of a refusal changes nothing', async () => {
    await quotaOn(opened.store).consume('p', { secrets: 1 });
    const { store, answer } = faulty(opened.store, 'reserve', fault);
    await expect(quotaOn(store, 20).consume('p', { secrets: 1 })).rejects.toMatchObject(unavailable);
    answer();
    expect((await quotaOn(opened.store).usage('p')).secrets).toMatchObject({ used: 1, reserved: 0 });
  });
});

describe('kinds', () => {
  it.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', 'propertyIsEnumerable'])(
    'named %s are refused when the object is made',
    (kind) => {
      const make = () => projectQuotas({ store: memoryStore(), kinds: ['secrets', kind] });
      expect(make).toThrow(`Kind "${kind}" cannot be: every object has something of that name`);
    },
  );
});
