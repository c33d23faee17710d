import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { helpText, readCommand } from '../src/cli/options.js';
import { cloudUnderTest } from './clouds.js';
import { PYTHON } from './e2e/command-lines.js';

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const command = at('packages/test-cloud/dist/cli/main.js');
const built = existsSync(command);
if (!built) console.warn('\n*** SKIPPED: the examples in other languages: the packages are not built ***\n');
const env = { ...process.env, TEST_CLOUD: `${process.execPath} ${command}` };

/** Ways to have pytest and the SDK in one interpreter: as they come, or the system's packages lent to another one. */
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
const hasYaml = has('yaml');
const go = spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;
if (!go) console.warn('\n*** SKIPPED: the package for Go tests: this machine has no go ***\n');

describe('the examples', () => {
  it.skipIf(!able || !built)('have a pytest plugin whose own tests pass', () => {
    const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'pytest_test_cloud', at('examples/pytest')];
    const { stdout, stderr } = spawnSync(able!.python, args, { env: able!.env, encoding: 'utf8' });
    expect(stdout, stderr).toContain('5 passed');
  });

  it.skipIf(!go || !built)('have a package for Go whose own tests pass', { timeout: 300_000 }, () => {
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

  it('has one layer of its own, and a user without rights', () => {
    expect([...instruction('COPY'), ...instruction('ADD'), ...instruction('RUN')]).toEqual(['--from=build /app /app']);
    expect(instruction('USER')).toEqual(['node']);
    expect(instruction('EXPOSE')).toEqual(['8774']);
  });

  it('begins the command as the package has it, on all addresses', () => {
    const { bin } = JSON.parse(readFileSync(at('packages/test-cloud/package.json'), 'utf8'));
    const [, program, ...args] = JSON.parse(instruction('ENTRYPOINT')[0]!);
    expect(`/app/${Object.values<string>(bin)[0]!.replace('./', '')}`).toBe(program);
    expect(readCommand(args).cloud).toMatchObject({ host: '0.0.0.0', port: 8774 });
  });

  it('has a health check that tells a cloud from none', { timeout: 60_000 }, async () => {
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

  it('names only options that there are', () => {
    const named = new Set(
      [...page.matchAll(/@apistrata\/test-cloud((?: --?[\w-]+(?: \d+)?)*)|`--([\w-]+)/g)].flatMap(
        ([, options, alone]) =>
          [...(options ?? '').matchAll(/--([\w-]+)/g)].map(([, name]) => name!).concat(alone ?? []),
      ),
    );
    expect(named).toContain('wait-for-clients');
    for (const name of named) expect(helpText()).toContain(`--${name}`);
  });

  it.skipIf(!hasYaml)('has pipelines that are YAML, with the environment of the cloud', async () => {
    const script = 'import json, sys, yaml; print(json.dumps([yaml.safe_load(t) for t in json.load(sys.stdin)]))';
    const { stdout, stderr } = spawnSync(hasYaml!.python, ['-c', script], {
      env: hasYaml!.env,
      input: JSON.stringify(blocks('yaml')),
      encoding: 'utf8',
    });
    const pipelines = JSON.parse(stdout || `"${stderr}"`);
    expect(pipelines).toHaveLength(5);
    const { env: own } = await cloudUnderTest();
    const { OS_AUTH_URL: _, ...same } = own;
    expect(pipelines[3].jobs.tests.env).toMatchObject(same);
    expect(pipelines[4].tests.variables).toMatchObject(same);
  });
});
