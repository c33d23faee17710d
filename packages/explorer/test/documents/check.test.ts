import { describe, expect, it } from 'vitest';
import {
  formatChangelogEntry,
  formatCheckAnnotations,
  formatCheckText,
  insertChangelogEntry,
} from '../../src/check/check-report.js';
import { checkDocuments } from '../../src/index.js';
import { changes } from './changes.js';
import { library, libraryWith } from './libraries.js';

const files = { published: 'main.json', current: 'openapi.json' };

describe('a check of OpenAPI documents', () => {
  it.each(changes)('decides whether %s', (_, change, finding) => {
    const result = checkDocuments(library, libraryWith('1.0.0', change));
    expect(result.passed).toBe(finding === undefined);
    expect(formatCheckText(result, files)).toContain(finding ?? 'No new version is required.');
  });

  const incompatible = (document: any) => delete document.paths['/v1/books/{id}'].delete;

  it.each([
    ['1.0.0', '1.0.0', false],
    ['1.0.0', '1.1.0', false],
    ['1.0.0', '2.0.0', true],
    ['2.0.0', '1.0.0', false],
    ['0.1.0', '0.1.1', false],
    ['0.1.0', '0.2.0', true],
    ['2026-01-31', '2026-02-28', true],
    ['1.1', '1.2', true],
    ['7', '7', false],
    ['first', 'second', true],
    ['first', 'first', false],
  ])('allows incompatible changes from %s to %s: %s', (from, to, passed) => {
    const published = libraryWith(from, () => {});
    expect(checkDocuments(published, libraryWith(to, incompatible))).toMatchObject({ passed, from, to, breaking: 1 });
  });

  it('requires a new version for compatible changes, too, if it is strict', () => {
    const added = (document: any) => (document.paths['/v1/new'] = { get: { responses: {} } });
    const passed = (to: string, strict: boolean) => checkDocuments(library, libraryWith(to, added), { strict }).passed;
    expect([passed('1.0.0', false), passed('1.0.0', true), passed('1.0.1', true)]).toEqual([true, false, true]);
    expect(checkDocuments(library, library, { strict: true }).passed).toBe(true);
  });

  it('reports the operations that require a new version', () => {
    const result = checkDocuments(library, libraryWith('1.0.0', incompatible));
    expect(formatCheckText(result, files)).toBe(
      [
        'openapi.json against main.json (both have version 1.0.0): operations changed: 1, with incompatible changes: 1',
        'DELETE /v1/books/{id} (Remove a book)\n  - removed',
        'Restore the previous behavior, or change info.version of openapi.json to a new version.\n',
      ].join('\n\n'),
    );
    expect(formatCheckAnnotations(result, files)).toMatch(
      /^::error file=openapi\.json,title=Change without a new version::DELETE \/v1\/books\/\{id\} \(Remove a book\): removed\n/,
    );
  });

  it('writes the entry of a changelog, and replaces an existing entry', () => {
    const entryOf = (version: string) =>
      formatChangelogEntry(checkDocuments(library, libraryWith(version, incompatible)));
    const first = insertChangelogEntry('', entryOf('1.0.0'));
    expect(first).toBe(
      '# Changelog\n\n## Unreleased\n\n### Breaking changes\n\n- `DELETE /v1/books/{id}` removed Remove a book\n',
    );
    const second = insertChangelogEntry(`${first}\n## 0.9.0\n\n- Old\n`, entryOf('2.0.0'));
    expect(second.match(/^## .*/gm)).toEqual(['## 2.0.0', '## 0.9.0']);
    expect(insertChangelogEntry(second, entryOf('2.0.0'))).toBe(second);
    expect(second).toMatch(/^# Changelog\n/);
  });
});
