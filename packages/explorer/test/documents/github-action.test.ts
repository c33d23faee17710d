import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { library, libraryWith } from './libraries.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const program = join(root, 'packages/explorer/dist/cli/main.js');
const source = readFileSync(join(root, '.github/actions/check-openapi/action.yml'), 'utf8');
const action = parse(source);
const guide = readFileSync(join(root, 'docs/guides/check-openapi-documents.md'), 'utf8');
const step = action.runs.steps.find(({ run }: { run?: string }) => run);
if (!existsSync(program)) console.warn('\n*** SKIPPED: the GitHub Action: the packages are not built ***\n');

describe('the GitHub Action', () => {
  it('has the parts of a composite action, and declares the inputs that it uses', () => {
    expect(action).toMatchObject({
      name: expect.any(String),
      description: expect.any(String),
      runs: { using: 'composite' },
    });
    const used = [...source.matchAll(/\$\{\{ inputs\.(\w+) \}\}/g)].map(([, name]) => name);
    expect(used.sort()).toEqual(Object.keys(action.inputs).sort());
    expect(step.shell).toBe('bash');
  });

  it('is used by the guide with inputs that exist', () => {
    const [, text = ''] = /```yaml\n(name:[\s\S]*?)```/.exec(guide) ?? [];
    const workflow = parse(text);
    const steps = Object.values(workflow.jobs as Record<string, { steps: { uses?: string; with?: object }[] }>).flatMap(
      (job) => job.steps,
    );
    const use = steps.find(({ uses }) => uses?.includes('check-openapi'));
    expect(use?.uses).toMatch(/^apistrata\/apistrata\/\.github\/actions\/check-openapi@/);
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(use?.with ?? {})));
  });
});

describe.skipIf(!existsSync(program))('the script of the GitHub Action', () => {
  let folder: string;
  const run = (command: string, args: readonly string[], env: Record<string, string> = {}) =>
    spawnSync(command, args, {
      cwd: join(folder, 'repository'),
      encoding: 'utf8',
      env: { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}`, TMPDIR: folder, ...env },
    });
  const write = (document: unknown) => writeFileSync(join(folder, 'repository/api.json'), JSON.stringify(document));
  const check = (document: string) =>
    run('bash', ['-e', '-o', 'pipefail', '-c', step.run], {
      DOCUMENT: document,
      AGAINST: 'HEAD',
      STRICT: 'false',
      CHANGELOG: 'CHANGES.md',
      VERSION: 'latest',
    });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'explorer-action-'));
    for (const name of ['bin', 'repository']) mkdirSync(join(folder, name));
    // Replaces npx: runs the program that was built from the sources.
    writeFileSync(
      join(folder, 'bin/npx'),
      `#!/bin/sh\n[ "$1 $2" = "--yes @apistrata/explorer@latest" ] || exit 9\nshift 2\nexec "${process.execPath}" "${program}" "$@"\n`,
    );
    chmodSync(join(folder, 'bin/npx'), 0o755);
    write(library);
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
    for (const args of [
      ['init', '-q'],
      ['add', '.'],
      [...identity, 'commit', '-qm', 'Publish'],
    ])
      expect(run('git', args).status).toBe(0);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('fails with annotations for an incompatible change, and passes otherwise', () => {
    expect(check('api.json')).toMatchObject({ status: 0 });
    write(libraryWith('1.0.0', (document) => delete document.paths['/v1/loans']));
    const failed = check('api.json');
    expect(failed).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^::error file=api\.json,title=Change without a new version::POST \/v1\/loans/),
    });
    expect(readFileSync(join(folder, 'repository/CHANGES.md'), 'utf8')).toContain('## Unreleased');
  });

  it('passes for a document that the base does not have', () => {
    expect(check('new.json')).toMatchObject({ status: 0, stdout: 'new.json is new: HEAD does not have it\n' });
  });
});
