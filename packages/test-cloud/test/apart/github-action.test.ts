import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { bundledProgram } from '../../../../testing/bundled-program.js';

const at = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
const source = readFileSync(at('.github/actions/test-cloud/action.yml'), 'utf8');
const action = parse(source);
const page = readFileSync(at('docs/test-cloud-in-ci.md'), 'utf8');
const stepOf = (id: string): { readonly run: string; readonly env: object } =>
  action.runs.steps.find((step: { id?: string }) => step.id === id);

describe('the GitHub Action of the test cloud', () => {
  let folder: string;
  const processes: number[] = [];

  beforeAll(async () => {
    const program = await bundledProgram(at('packages/test-cloud/src/cli/main.ts'));
    folder = mkdtempSync(join(tmpdir(), 'test-cloud-action-'));
    mkdirSync(join(folder, 'bin'));
    // Replaces npx: runs the program that was built from the sources, and records its process.
    const npx = `[ "$1 $2" = "--yes @apistrata/test-cloud@1.2.3" ] || exit 9
shift 2
echo $$ >> "${join(folder, 'processes')}"
exec "${process.execPath}" "${program}" "$@"`;
    for (const [name, lines] of [
      ['npx', npx],
      ['node', `exec "${process.execPath}" "$@"`],
    ] as const) {
      writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${lines}\n`);
      chmodSync(join(folder, 'bin', name), 0o755);
    }
  });
  afterAll(() => {
    for (const pid of processes) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  /**
   * Runs a step as the runner does, and returns what the step writes for later steps. Each run has its own temporary
   * folder, because a cloud from an earlier run may still write to its log.
   */
  function run(step: string, env: Readonly<Record<string, string>> = {}) {
    const written = { GITHUB_ENV: join(folder, 'env'), GITHUB_OUTPUT: join(folder, 'output') };
    for (const file of [...Object.values(written), join(folder, 'processes')]) writeFileSync(file, '');
    const result = spawnSync('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', stepOf(step).run], {
      encoding: 'utf8',
      env: {
        PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
        RUNNER_TEMP: mkdtempSync(join(folder, 'run-')),
        ...written,
        ...env,
      },
    });
    const started = readFileSync(join(folder, 'processes'), 'utf8').split('\n').filter(Boolean).map(Number);
    const variables = (file: string) =>
      Object.fromEntries(
        readFileSync(file, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => line.split(/=(.*)/s).slice(0, 2)),
      );
    const [env2, output] = [variables(written.GITHUB_ENV), variables(written.GITHUB_OUTPUT)];
    return { ...result, started, env: env2, output };
  }

  it('declares the inputs that it uses and the outputs that it writes', () => {
    const used = [...source.matchAll(/\$\{\{ inputs\.([\w-]+) \}\}/g)].map(([, name]) => name);
    expect(used.sort()).toEqual(Object.keys(action.inputs).sort());
    const outputs = Object.entries<{ value: string }>(action.outputs).map(([name, { value }]) => [name, value]);
    expect(outputs).toEqual(['url', 'auth-url', 'log'].map((name) => [name, `\${{ steps.start.outputs.${name} }}`]));
    expect(Object.keys(stepOf('start').env)).toEqual(['OPTIONS', 'PORT', 'VERSION']);
  });

  it('starts a cloud with options, and sets the variables of later steps', async () => {
    const { status, stderr, started, env, output } = run('start', {
      OPTIONS: '--preset minimal --project lab',
      PORT: '0',
      VERSION: '1.2.3',
    });
    processes.push(...started);
    expect([status, stderr]).toEqual([0, '']);
    expect(output).toMatchObject({ url: env.TEST_CLOUD_URL, 'auth-url': env.OS_AUTH_URL });
    expect(env).toMatchObject({ OS_PROJECT_NAME: 'lab', OS_IDENTITY_API_VERSION: '3' });
    expect((await fetch(`${output['auth-url']}`)).status).toBe(200);
    expect(readFileSync(`${output.log}`, 'utf8')).toContain('The cloud is ready');
  });

  it('fails with an annotation if the cloud does not start', () => {
    const { status, stdout } = run('start', { OPTIONS: '--detaild', PORT: '0', VERSION: '1.2.3' });
    expect(status).toBe(1);
    expect(stdout).toMatch(/^::error title=The test cloud did not start::.*--detaild/m);
  });

  it('keeps the Node of the job if the cloud runs on it', () => {
    expect(run('node').output).toEqual({ current: 'true' });
    expect(action.runs.steps[1]).toMatchObject({
      if: "steps.node.outputs.current != 'true'",
      uses: 'actions/setup-node@v4',
    });
    writeFileSync(join(folder, 'bin/node'), '#!/bin/sh\nexit 1\n');
    expect(run('node').output).toEqual({ current: 'false' });
  });

  it('is used by the page about CI with inputs that it has', () => {
    const uses = [...page.matchAll(/```yaml\n(.*?)```/gs)].flatMap(([, text = '']) => {
      const { steps = [] } = parse(text);
      return (steps as { uses?: string; with?: object }[]).filter((step) => step.uses?.includes('actions/test-cloud'));
    });
    expect(uses.map((step) => step.uses)).toEqual(['apistrata/apistrata/.github/actions/test-cloud@main']);
    for (const step of uses)
      expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(step.with ?? {})));
  });
});
