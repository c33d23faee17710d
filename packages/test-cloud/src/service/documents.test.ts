import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type DocumentStore, Documents } from './documents.js';

/** Returns a store whose writes complete only when the test calls `finish()`. */
function manualStore() {
  const written: unknown[] = [];
  const waiting: ((error?: Error) => void)[] = [];
  const store: DocumentStore = {
    documents: [{ kind: 'a/b', id: '1', value: 'first' }],
    write: (changes) =>
      new Promise((resolve, reject) => {
        waiting.push((error) => {
          if (error) return reject(error);
          written.push(...changes);
          resolve();
        });
      }),
  };
  return { store, written, waiting, finish: (error?: Error) => waiting.shift()?.(error) };
}

describe('documents with a store', () => {
  it('contain the stored records, and write nothing without a change', async () => {
    const { store, waiting } = manualStore();
    const documents = new Documents(store);
    expect(documents.table('a/b').get('1')).toBe('first');
    await documents.flush();
    expect(waiting).toEqual([]);
  });

  it('write each changed or removed document once', async () => {
    const { store, written, finish } = manualStore();
    const documents = new Documents(store);
    const table = documents.table<string>('a/b');
    table.set('2', 'early');
    table.set('2', 'late');
    table.delete('1');
    table.delete('unknown');
    const stored = documents.flush();
    finish();
    await stored;
    expect(written).toEqual([
      { kind: 'a/b', id: '2', value: 'late' },
      { kind: 'a/b', id: '1', value: undefined },
    ]);
  });

  it('write the changes of concurrent callers together, after the write in progress', async () => {
    const { store, written, waiting, finish } = manualStore();
    const documents = new Documents(store);
    const table = documents.table<number>('a/b');
    table.set('2', 2);
    const first = documents.flush();
    table.set('3', 3);
    let resolved = 0;
    const others = [documents.flush(), documents.flush()].map(async (stored) => {
      await stored;
      resolved++;
    });
    finish();
    await first;
    await expect.poll(() => waiting.length).toBe(1);
    // The second caller must wait for the write that the first one has started.
    await setImmediate();
    expect([written.length, resolved]).toEqual([1, 0]);
    finish();
    await Promise.all(others);
    expect(written).toHaveLength(2);
  });

  it('reject callers whose write failed, and repeat their changes in the next write', async () => {
    const { store, written, waiting, finish } = manualStore();
    const documents = new Documents(store);
    documents.table<number>('a/b').set('2', 2);
    const first = documents.flush();
    const failed = expect(first).rejects.toThrow('disk full');
    finish(new Error('disk full'));
    await failed;
    documents.table<number>('a/b').set('3', 3);
    const second = documents.flush();
    await expect.poll(() => waiting.length).toBe(1);
    finish();
    await second;
    expect(written).toHaveLength(2);
  });
});
