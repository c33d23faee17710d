import { describe, expect, it } from 'vitest';
import { Batches } from './batches.js';

describe('Batches', () => {
  const outage = new Error('the database is away');

  /** Sends anything but `bad`; `away` is how often the database is away first. */
  function batches(away = 0) {
    const sent: string[][] = [];
    const added = new Batches<string>(
      async (items) => {
        await Promise.resolve();
        if (away-- > 0) throw outage;
        if (items.includes('bad')) throw new Error('bad');
        sent.push([...items]);
      },
      (error) => error === outage,
    );
    return { sent, add: (...items: string[]) => Promise.allSettled(items.map((item) => added.add(item))) };
  }

  it('sends at once what comes alone, and together what comes meanwhile', async () => {
    const { sent, add } = batches();
    await add('a', 'b', 'c');
    await add('d');
    expect(sent).toEqual([['a'], ['b', 'c'], ['d']]);
  });

  it('fails an item that cannot be sent, and none of those that were to go with it', async () => {
    const { sent, add } = batches();
    const outcomes = await add('a', 'b', 'bad', 'c');
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(sent).toEqual([['a'], ['b'], ['c']]);
  });

  it('sends nothing alone during an outage, and goes on after it', async () => {
    const { sent, add } = batches(2);
    const outcomes = await add('a', 'b', 'c');
    expect(outcomes).toEqual([outage, outage, outage].map((reason) => ({ status: 'rejected', reason })));
    await add('d');
    expect(sent).toEqual([['d']]);
  });
});
