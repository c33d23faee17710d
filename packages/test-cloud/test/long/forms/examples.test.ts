import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundledProgram } from '../../../../../testing/bundled-program.js';
import { helpText, readCommand } from '../../../src/cli/options.js';
import { cloudUnderTest } from '../../clouds.js';
import { PYTHON } from '../e2e/command-lines.js';

const at = (path: string) => fileURLToPath(new URL(`../../../../../${path}`, import.meta.url));
const command = await bundledProgram(at('packages/test-cloud/src/cli/main.ts'));
const env = { ...process.env, TEST_CLOUD: `${process.execPath} ${command}` };

/**
 * Interpreters that may have both pytest and the SDK: as installed, or with the system's packages added to another
 * interpreter's path.
 */
const interpreters = [
  { python: PYTHON, path: [] },
  { python: 'python3', path: [] },
  { python: 'python3', path: ['/usr/lib/python3/dist-packages'] },
].map(({ python, path }) => ({ python, env: { ...env, PYTHONPATH: [at('examples/pytest'), ...path].join(':') } }));
const has = (modules: string) =>
  interpreters.find(
    (one) => spawnSync(one.python, ['-W', 'ignore', '-c', `import ${modules}`], { env: one.env }).status === 0,
  );
const able = has('openstack, pytest');
if (!able) console.warn('\n*** SKIPPED: the pytest plugin: no Python here has both pytest and openstacksdk ***\n');
const canInstall = has('openstack, pytest, pip, setuptools, wheel');
if (!canInstall) console.warn('\n*** SKIPPED: installing the pytest plugin: no Python with pip and setuptools ***\n');
const hasYaml = has('yaml');
const go = spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;
if (!go) console.warn('\n*** SKIPPED: the package for Go tests: this machine has no go ***\n');

describe('the examples', () => {
  it.skipIf(!able)('include a pytest plugin whose own tests pass', () => {
    const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'pytest_test_cloud', at('examples/pytest')];
    const { stdout, stderr } = spawnSync(able!.python, args, { env: able!.env, encoding: 'utf8' });
    expect(stdout, stderr).toContain('5 passed');
  });

  it.skipIf(!canInstall)('include a pytest plugin that pytest finds when it is installed', () => {
    const { python = '', env: own } = canInstall ?? {};
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-plugin-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    // The build writes into the folder of the sources.
    cpSync(at('examples/pytest'), join(folder, 'sources'), { recursive: true });
    const options = ['--no-deps', '--no-build-isolation', '--no-index', '--target', join(folder, 'installed')];
    const install = ['-W', 'ignore', '-m', 'pip', 'install', '--quiet', ...options, join(folder, 'sources')];
    const installed = spawnSync(python, install, { encoding: 'utf8', env: own });
    expect(installed.status, installed.stderr).toBe(0);
    const [metadata = ''] = readdirSync(join(folder, 'installed')).filter((name) => name.endsWith('.dist-info'));
    expect(readFileSync(join(folder, 'installed', metadata, 'METADATA'), 'utf8')).toMatch(
      /^Name: pytest-test-cloud\nVersion: \d+\.\d+\.\d+\n[\s\S]*# A cloud in pytest/m,
    );
    const PYTHONPATH = [join(folder, 'installed'), own?.PYTHONPATH?.split(':').slice(1) ?? []].flat().join(':');
    const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--fixtures', folder];
    const { stdout, stderr } = spawnSync(python, args, { env: { ...own, PYTHONPATH }, encoding: 'utf8' });
    expect(stdout, stderr).toContain('fixtures defined from pytest_test_cloud');
  });

  it.skipIf(!go)('include a package for Go whose own tests pass', { timeout: 300_000 }, () => {
    const offline = { ...env, GOFLAGS: '-count=1', GOTOOLCHAIN: 'local', GOPROXY: 'off' };
    const { stdout, stderr } = spawnSync('go', ['test', './...'], {
      cwd: at('examples/go'),
      env: offline,
      encoding: 'utf8',
    });
    expect(stdout, stderr).toMatch(/^ok/m);
    expect(`${stdout}${stderr}`).not.toContain('FAIL');
  });
});

describe('the Dockerfile', () => {
  const text = readFileSync(at('packages/test-cloud/Dockerfile'), 'utf8').replaceAll('\\\n', '');
  const last = text
    .split(/^FROM /m)
    .at(-1)!
    .split('\n');
  const [instruction] = [
    (name: string) => last.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1)),
  ];

  it('has a single additional layer, and an unprivileged user', () => {
    expect([...instruction('COPY'), ...instruction('ADD'), ...instruction('RUN')]).toEqual(['--from=build /app /app']);
    expect(instruction('USER')).toEqual(['node']);
    expect(instruction('EXPOSE')).toEqual(['8774']);
  });

  it('copies in its last layer the output of a step that does not require Docker', { timeout: 60_000 }, () => {
    const [, step = ''] = /^RUN (node .*) \/app$/m.exec(text) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-image-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    execFileSync(process.execPath, [...step.split(' ').slice(1), join(folder, 'app')], { cwd: at('.'), stdio: 'pipe' });
    const [, program = '', ...args] = JSON.parse(instruction('ENTRYPOINT')[0] ?? '[]') as readonly string[];
    const command = [join(folder, program), ...args, '--port', '0', '--quiet', '--', process.execPath, '--eval', ''];
    expect(spawnSync(process.execPath, command, { encoding: 'utf8' })).toMatchObject({ status: 0 });
  });

  it('starts the packaged command, on all addresses', () => {
    const { bin } = JSON.parse(readFileSync(at('packages/test-cloud/package.json'), 'utf8'));
    const [, program, ...args] = JSON.parse(instruction('ENTRYPOINT')[0]!);
    expect(`/app/${Object.values<string>(bin)[0]!.replace('./', '')}`).toBe(program);
    expect(readCommand(args).cloud).toMatchObject({ host: '0.0.0.0', port: 8774 });
  });

  it('has a health check that fails without a cloud', { timeout: 60_000 }, async () => {
    const check = JSON.parse(/CMD (\[.*\])$/.exec(instruction('HEALTHCHECK')[0]!)![1]!) as string[];
    const cloud = await cloudUnderTest();
    const { promisify } = await import('node:util');
    const { execFile } = await import('node:child_process');
    const run = promisify(execFile);
    const of = (port: string) =>
      run(
        process.execPath,
        check.slice(1).map((arg) => arg.replace('8774', port)),
      );
    await of(new URL(cloud.url).port);
    await cloud.stop();
    await expect(of(new URL(cloud.url).port)).rejects.toMatchObject({ code: 1 });
  });
});

describe('the page about CI', () => {
  const page = readFileSync(at('docs/test-cloud-in-ci.md'), 'utf8');
  const blocks = (language: string) =>
    [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, block]) => block!);

  it('mentions only existing options', () => {
    const named = new Set(
      [...page.matchAll(/@apistrata\/test-cloud((?: --?[\w-]+(?: \d+)?)*)|`--([\w-]+)/g)].flatMap(
        ([, options, alone]) =>
          [...(options ?? '').matchAll(/--([\w-]+)/g)].map(([, name]) => name!).concat(alone ?? []),
      ),
    );
    expect(named).toContain('wait-for-clients');
    for (const name of named) expect(helpText()).toContain(`--${name}`);
  });

  it.skipIf(!hasYaml)('contains pipelines that are valid YAML, with the environment of the cloud', async () => {
    const script = 'import json, sys, yaml; print(json.dumps([yaml.safe_load(t) for t in json.load(sys.stdin)]))';
    const { stdout, stderr } = spawnSync(hasYaml!.python, ['-c', script], {
      env: hasYaml!.env,
      input: JSON.stringify(blocks('yaml')),
      encoding: 'utf8',
    });
    const pipelines = JSON.parse(stdout || `"${stderr}"`);
    expect(pipelines).toHaveLength(6);
    const { env: own } = await cloudUnderTest();
    const { OS_AUTH_URL: _, ...same } = own;
    expect(pipelines[4].jobs.tests.env).toMatchObject(same);
    expect(pipelines[5].tests.variables).toMatchObject(same);
  });
});
