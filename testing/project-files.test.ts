import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { scripts, engines } = JSON.parse(read('package.json'));
const engine = JSON.parse(read('packages/compute-engine/package.json'));
const workflows = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`);
const documents = [
  ...workflows,
  '.github/pull_request_template.md',
  'CONTRIBUTING.md',
  'README.md',
  'docs/dependencies.md',
];

describe('documents for contributors', () => {
  it.each(documents)('%s mentions only existing commands', (path) => {
    const named = [...read(path).matchAll(/npm run (?:-s )?([a-z][\w:-]*)/g)].map(([, script]) => script!);
    expect(named.filter((script) => !scripts[script])).toEqual([]);
  });

  it('describe how to report a vulnerability, how to treat others, and what an issue must contain', () => {
    const files = ['SECURITY.md', 'CODE_OF_CONDUCT.md', '.github/ISSUE_TEMPLATE/bug.yml', '.github/dependabot.yml'];
    expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe('the workflows', () => {
  const ci = read('.github/workflows/ci.yml');

  it('test everything on the oldest Node of the engine and on a later release line, and the start on the oldest supported Node', () => {
    const [, list] = /node: \[(.*)\]/.exec(ci)!;
    expect(list!.split(', ').map(Number)).toEqual([
      Number(/^>=(\d+)/.exec(engine.engines.node)![1]),
      expect.any(Number),
    ]);
    expect(engines.node).toBe(`>=${/oldest-node:[\s\S]*?node-version: "([\d.]+)"/.exec(ci)![1]}`);
  });

  it('run all tests with the command that developers use, and install the database servers', () => {
    expect(ci).toMatch(/- run: \.ci\/run$/m);
    expect(read('.ci/run')).toMatch(/^(?:\w+="[^"]*" )*npm run test:all$/m);
    const [, packages = ''] = /^packages=\(([^)]*)\)/m.exec(read('.ci/run')) ?? [];
    expect(packages.split(/\s+/)).toEqual(expect.arrayContaining(['postgresql', 'mariadb-server', 'redis-server']));
  });

  it('release only after the tests, and with provenance', () => {
    const release = read('.github/workflows/release.yml');
    expect(release).toMatch(/needs: test/);
    expect(release).toMatch(/id-token: write/);
    expect(release).toMatch(/npm run release\n/);
  });

  it.each([true, false])('attach each form of the test cloud to its release, which already exists: %s', (exists) => {
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-release-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const programs = join(folder, 'programs');
    mkdirSync(programs);
    mkdirSync(join(folder, 'packages/test-cloud'), { recursive: true });
    writeFileSync(join(folder, 'packages/test-cloud/package.json'), '{ "version": "1.2.3" }');
    const log = join(folder, 'log');
    /** A program that records its arguments, and creates the file that the real one creates. */
    const program = (name: string, more: string) =>
      writeFileSync(join(programs, name), `#!/bin/sh\necho ${name} "$@" >> '${log}'\n${more}\n`, { mode: 0o755 });
    program('npm', 'touch "$4"');
    program('python3', 'touch pytest_test_cloud-1.2.3-py3-none-any.whl');
    program(
      'gh',
      `[ "$2" != view ] || exit ${exists ? 0 : 1}\n[ "$2" != upload ] || { shift 4; ls "$@" > /dev/null; }`,
    );

    const { jobs } = parse(read('.github/workflows/release.yml'));
    const steps: readonly { name?: string; run?: string }[] = jobs.release.steps;
    const pushed = steps.findIndex(({ run }) => run?.includes('git push --follow-tags'));
    const env = { ...process.env, PATH: [programs, process.env.PATH].join(delimiter) };
    for (const { run } of steps.slice(pushed + 1))
      execFileSync('bash', ['--norc', '-e', '-c', run!], { cwd: folder, env, stdio: 'pipe' });

    const tag = '@apistrata/test-cloud@1.2.3';
    const files = 'test-cloud-image-linux-x64.tar test-cloud-linux-x64 pytest_test_cloud-1.2.3-py3-none-any.whl';
    expect(readFileSync(log, 'utf8').trim().split('\n')).toEqual([
      'npm run container -- test-cloud-image-linux-x64.tar',
      'npm run executable -- test-cloud-linux-x64',
      'python3 -m pip wheel --no-deps --wheel-dir . examples/pytest',
      `gh release view ${tag}`,
      ...(exists ? [] : [`gh release create ${tag} --verify-tag --title ${tag}`]),
      `gh release upload ${tag} --clobber ${files}`,
    ]);
  });
});
