import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { computeApiDescription, MAX_VERSION, MIN_VERSION, operations } from '@apistrata/compute-router';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { versionedTypes } from '../src/index.js';
import { bookOperations } from './books.js';
import { compile } from './compile.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'versioned-types-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the errors of the compiler in lines that use generated types. */
function check(module: string, lines: string): readonly string[] {
  writeFileSync(join(folder, 'api.ts'), module);
  writeFileSync(join(folder, 'use.ts'), lines);
  return compile([join(folder, 'use.ts')], { noEmit: true, noUnusedLocals: true });
}

const library = () => versionedTypes(bookOperations, { title: 'Library', min: '1.1', max: '1.10' });

describe('the types of an API', () => {
  it('include exactly the fields that a response, a body and a query have at a version', () => {
    const output = check(
      library(),
      `import type { LibraryResponse, LibraryBody, LibraryQuery } from './api.js';
      type Book<V extends '1.4' | '1.5' | '1.8'> = LibraryResponse<V, 'listBooks'>['books'][number];
      export const old: Book<'1.4'> = { id: 1, name: 'Emma' };
      export const named: Book<'1.5'> = { id: 1, title: 'Emma' };
      export const shelved: Book<'1.8'> = { id: 1, title: 'Emma', shelf: 'A' };
      // @ts-expect-error a book has no title before 1.5
      export const early: Book<'1.4'> = { id: 1, title: 'Emma' };
      // @ts-expect-error a book has a shelf from 1.8
      export const late: Book<'1.8'> = { id: 1, title: 'Emma' };
      export const sent: LibraryBody<'1.8', 'createBook'> = { book: { title: 'Emma', shelf: 'B' } };
      // @ts-expect-error shelf C does not exist
      export const wrong: LibraryBody<'1.8', 'createBook'> = { book: { title: 'Emma', shelf: 'C' } };
      export const requested: LibraryQuery<'1.5', 'listBooks'> = { title: 'Emma' };
      // @ts-expect-error books are not filtered before 1.5
      export const unheard: LibraryQuery<'1.4', 'listBooks'> = { title: 'Emma' };`,
    );
    expect(output).toEqual([]);
  });

  it('reject invalid uses', () => {
    const lines = `import type { LibraryResponse } from './api.js';
      export const book: LibraryResponse<'1.4', 'listBooks'> = { books: [{ id: 1, title: 'Emma' }] };`;
    expect(check(library(), lines).join()).toContain('title');
  });

  it('of the compute API include the tags of a server since 2.26, and not at 2.25', () => {
    const { title } = computeApiDescription;
    const output = check(
      versionedTypes(operations, { title, min: MIN_VERSION, max: MAX_VERSION }),
      `import type { ComputeResponse, ComputeBody, ComputeOperation, ComputeVersion } from './api.js';
      type Server<V extends ComputeVersion> = ComputeResponse<V, 'showServer'>['server'];
      export const tagsOf = ({ tags }: Server<'2.26'>): string[] => tags;
      // @ts-expect-error tags do not exist at 2.25
      export const noTagsOf = ({ tags }: Server<'2.25'>) => tags;
      // @ts-expect-error nor operations on them
      export type Tags = ComputeResponse<'2.25', 'listServerTags'>;
      export const named: ComputeOperation<'2.26'> = 'listServerTags';
      export const image = ({ server }: ComputeResponse<'2.53', 'showServer'>) => server.image && server.image.id;
      export const body: ComputeBody<'2.52', 'createServer'> = {
        server: { name: 'web', flavorRef: '1', networks: 'auto', tags: ['blue'] },
      };
      export const earlier: ComputeBody<'2.36', 'createServer'> = {
        // @ts-expect-error networks are a list until 2.36
        server: { name: 'web', flavorRef: '1', networks: 'auto' },
      };
      // @ts-expect-error unknown version
      export type Unknown = ComputeResponse<'2.999', 'showServer'>;
      export const id = <V extends '2.1' | '2.53'>(answer: ComputeResponse<V, 'createServer'>): unknown => answer;`,
    );
    expect(output).toEqual([]);
  });
});
