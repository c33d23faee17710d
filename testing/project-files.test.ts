import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { scripts, engines } = JSON.parse(read('package.json'));
const engine = JSON.parse(read('packages/compute-engine/package.json'));
const workflows = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`);
const notified = [
  ...workflows,
  '.github/pull_request_template.md',
  'CONTRIBUTING.md',
  'README.md',
  'docs/dependencies.md',
];

describe('documents for contributors', () => {
  it.each(notified)('%s names only existing commands', (path) => {
    const named = [...read(path).matchAll(/npm run (?:-s )?([a-z][\w:-]*)/g)].map(([, script]) => script!);
    expect(named.filter((script) => !scripts[script])).toEqual([]);
  });

  it('describe how to report a vulnerability, how to treat each other, and what an issue must contain', () => {
    const files = ['SECURITY.md', 'CODE_OF_CONDUCT.md', '.github/ISSUE_TEMPLATE/bug.yml', '.github/dependabot.yml'];
    expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe('the workflows', () => {
  const ci = read('.github/workflows/ci.yml');

  it('test everything on the oldest Node that the engine supports and on a later line, and the start on the oldest of all', () => {
    const [, list] = /node: \[(.*)\]/.exec(ci)!;
    expect(list!.split(', ').map(Number)).toEqual([
      Number(/^>=(\d+)/.exec(engine.engines.node)![1]),
      expect.any(Number),
    ]);
    expect(engines.node).toBe(`>=${/oldest-node:[\s\S]*?node-version: "([\d.]+)"/.exec(ci)![1]}`);
  });

  it('run the same commands as a developer, with the programs of both databases', () => {
    expect(ci).toContain('.ci/run');
    expect(read('.ci/run')).toMatch(/packages=\([^)]*\bpostgresql\b/);
  });

  it('release only after the tests, and with provenance', () => {
    const release = read('.github/workflows/release.yml');
    expect(release).toMatch(/needs: test/);
    expect(release).toMatch(/id-token: write/);
    expect(release).toMatch(/npm run release\n/);
  });
});
