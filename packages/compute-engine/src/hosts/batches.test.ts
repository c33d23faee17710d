import { describe, expect, it } from 'vitest';
import { BatchSender } from './batches.js';

describe('BatchSender', () => {
  const outage = new Error('the database is unavailable');

  /** Returns a sender that rejects the item `bad`. The first `outages` attempts fail as in an outage. */
  function batches(outages = 0) {
    const sent: string[][] = [];
    const added = new BatchSender<string>(
      async (items) => {
        await Promise.resolve();
        if (outages-- > 0) throw outage;
        if (items.includes('bad')) throw new Error('bad');
        sent.push([...items]);
      },
      (error) => error === outage,
    );
    return { sent, add: (...items: string[]) => Promise.allSettled(items.map((item) => added.add(item))) };
  }

  it('sends a single item immediately, and items added in the meantime together', async () => {
    const { sent, add } = batches();
    await add('a', 'b', 'c');
    await add('d');
    expect(sent).toEqual([['a'], ['b', 'c'], ['d']]);
  });

  it('rejects an item that cannot be sent, but not the rest of its batch', async () => {
    const { sent, add } = batches();
    const outcomes = await add('a', 'b', 'bad', 'c');
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(sent).toEqual([['a'], ['b'], ['c']]);
  });

  it('does not send items one by one during an outage, and continues afterwards', async () => {
    const { sent, add } = batches(2);
    const outcomes = await add('a', 'b', 'c');
    expect(outcomes).toEqual([outage, outage, outage].map((reason) => ({ status: 'rejected', reason })));
    await add('d');
    expect(sent).toEqual([['d']]);
  });
});
