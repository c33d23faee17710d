import {
  createDocumentTable,
  DocumentTable,
  openStore,
  type SchemaChanges,
  type Stored,
} from '@apistrata/record-store';

interface Note extends Stored {
  readonly id: string;
  readonly owner: string;
  readonly text: string;
}

const notes = new DocumentTable<Note>({ name: 'notes', key: ({ id }) => id, columns: { owner: ({ owner }) => owner } });
const changes = {
  '0001-notes': {
    up: (db) => createDocumentTable(db, 'notes', { columns: { owner: 'text' }, indexes: [['owner', 'seq']] }),
  },
} satisfies SchemaChanges;

const store = await openStore(':memory:', changes);
await store.transaction((tx) => notes.insert(tx, { id: 'n1', owner: 'ada', text: 'hello' }));
export const found = await notes.find(store, (query) => query.where('owner', '=', 'ada'));
await store.close();
