import type { Store } from '@apistrata/record-store';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type DocumentSeal, serviceDocuments } from '../../src/documents/service-documents.js';
import { storesUnderTest } from '../stores-under-test.js';

/** A fake cipher that reverses strings. The prefix of an encrypted string is the key's name. */
const seal = (key: string): DocumentSeal => ({
  seal: (text, place) => `${key}.${[...`${place}|${text}`].reverse().join('')}`,
  open: (sealed, place) => {
    const text = [...sealed.slice(2)].reverse().join('');
    if (!text.startsWith(`${place}|`)) throw new Error(`sealed elsewhere: ${sealed}`);
    return text.slice(place.length + 1);
  },
  isCurrent: (sealed) => sealed.startsWith(`${key}.`),
});

const ada = { kind: 'identity/users', id: 'ada', value: { name: 'Ada', tags: ['a'] } };
const bob = { kind: 'identity/users', id: 'bob', value: { name: 'Bob' } };

describe.each(storesUnderTest(inject('postgresUrl')))('documents of services on $kind', ({ open }) => {
  let store: Store;
  let close: () => Promise<void>;

  beforeEach(async () => {
    ({ store, close } = await open());
  });
  afterEach(() => close());

  const rows = () => store.db.selectFrom('service_documents').selectAll().where('kind', '!=', '').execute();

  it('are read in order of creation by the next process', async () => {
    const { documents, write } = await serviceDocuments({ store }).open();
    expect(documents).toEqual([]);
    await write([ada, bob]);
    await write([
      { ...ada, value: { name: 'Ada L.' } },
      { kind: 'identity/roles', id: 'ada', value: true },
    ]);
    await write([{ ...bob, value: undefined }]);
    await write([bob]);
    expect((await serviceDocuments({ store }).open()).documents).toEqual([
      { ...ada, value: { name: 'Ada L.' } },
      { kind: 'identity/roles', id: 'ada', value: true },
      bob,
    ]);
  });

  it('are all stored, even if they do not fit into one statement', async () => {
    const { write } = await serviceDocuments({ store }).open();
    const many = Array.from({ length: 1200 }, (_, number) => ({ kind: 'many', id: `${number}`, value: { number } }));
    await write(many);
    expect((await serviceDocuments({ store }).open()).documents).toEqual(many);
  });

  it('are written only by the process that opened them last', async () => {
    const first = await serviceDocuments({ store }).open();
    const second = await serviceDocuments({ store }).open();
    await expect(first.write([ada])).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
    await second.write([bob]);
    expect((await serviceDocuments({ store }).open()).documents).toEqual([bob]);
  });

  it('are encrypted for their record, and re-encrypted with a new key', async () => {
    await (await serviceDocuments({ store, seal: seal('a') }).open()).write([ada]);
    const [sealed] = await rows();
    expect(sealed?.data).toMatch(/^a\./);
    expect(JSON.stringify(sealed)).not.toContain('Ada');
    expect((await serviceDocuments({ store, seal: seal('b') }).open()).documents).toEqual([ada]);
    expect((await rows())[0]?.data).toMatch(/^b\./);
    await store.db.updateTable('service_documents').set({ id: 'eve' }).where('id', '=', 'ada').execute();
    await expect(serviceDocuments({ store, seal: seal('b') }).open()).rejects.toThrow('sealed elsewhere');
  });
});
