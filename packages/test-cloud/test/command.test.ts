import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { helpText, readCommand } from '../src/cli/options.js';
import { requestLine } from '../src/cli/request-line.js';

const command = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
if (!existsSync(command)) console.warn('\n*** SKIPPED: the command: the packages are not built ***\n');

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

describe('the options of the command', () => {
  it('has defaults that need no reading', () => {
    expect(readCommand([])).toMatchObject({
      format: 'env',
      quiet: false,
      help: false,
      cloud: { port: 8774, transientMs: 150 },
    });
  });

  it('reads every option that the help names', () => {
    const given = readCommand(
      '--port 0 --host ::1 --preset minimal --format clouds.yaml --control --latency 5 --max-version 2.53 --quiet --user demo --project lab'.split(
        ' ',
      ),
    );
    expect(given).toMatchObject({ format: 'clouds.yaml', quiet: true, user: 'demo', project: 'lab' });
    expect(given.cloud).toMatchObject({
      port: 0,
      host: '::1',
      preset: 'minimal',
      control: true,
      latencyMs: 5,
      maxVersion: '2.53',
    });
    for (const name of [
      'port',
      'host',
      'preset',
      'format',
      'control',
      'latency',
      'max-version',
      'quiet',
      'user',
      'project',
    ])
      expect(helpText()).toContain(`--${name}`);
  });

  it.each([['--prot'], ['--port', 'x'], ['--format', 'toml'], ['web']])('refuses %s %s', (...args) => {
    expect(() => readCommand(args.filter(Boolean))).toThrow(expect.objectContaining({ code: 'COMMAND_LINE' }));
  });
});

describe('a line of the request log', () => {
  const entry = {
    number: 1,
    at: Date.UTC(2026, 0, 1),
    service: 'compute',
    method: 'GET',
    url: '/compute/v2.1/servers',
    status: 503,
    version: '2.53',
    requestId: 'req-1',
    userAgent: '',
    durationMs: 1.5,
    requestHeaders: {},
    responseHeaders: {},
    requestBody: undefined,
    responseBody: undefined,
  };

  it('tells status, version and request id', () => {
    expect(requestLine(entry, false)).toBe('00:00:00.000 503 GET    /compute/v2.1/servers 2.53 1.5ms req-1');
  });

  it('is coloured for those who see colours', () => {
    expect(requestLine(entry, true)).toContain('\x1b[31m503\x1b[0m');
  });
});

describe.skipIf(!existsSync(command))('the command', () => {
  async function start(...args: string[]) {
    const child = spawn(process.execPath, [command, '--port', '0', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    running.push(child);
    const log: string[] = [];
    createInterface({ input: child.stderr! }).on('line', (line) => log.push(line));
    const lines: string[] = [];
    createInterface({ input: child.stdout! }).on('line', (line) => lines.push(line));
    await expect.poll(() => log.join('\n'), { timeout: 20_000 }).toContain('The cloud is there');
    return { child, log, lines };
  }

  it('prints the environment, logs requests, and ends when asked to', async () => {
    const { child, log, lines } = await start();
    const env = Object.fromEntries(lines.map((line) => line.replace(/^export /, '').split('=')));
    expect(env).toMatchObject({ OS_USERNAME: 'admin', OS_PROJECT_NAME: 'demo', OS_REGION_NAME: 'RegionOne' });
    expect((await fetch(env.OS_AUTH_URL)).status).toBe(200);
    await fetch(new URL('/network/v2.0/networks', env.OS_AUTH_URL));
    await expect
      .poll(() => log.join('\n'))
      .toMatch(/200 GET {4}\/identity\/v3 .*\n.* 401 GET {4}\/network\/v2\.0\/networks/);
    child.kill('SIGTERM');
    const [code] = await new Promise<[number | null]>((resolve) => child.once('exit', (...exit) => resolve([exit[0]])));
    expect(code).toBe(0);
  });

  it('prints a clouds.yaml', async () => {
    const { lines } = await start('--format', 'clouds.yaml', '--quiet');
    expect(lines.slice(0, 2)).toEqual(['clouds:', '  test-cloud:']);
    expect(lines).toContain('  test-cloud-admin:');
  });

  it.each([
    [['--prot', '1'], "Unknown option '--prot'"],
    [['--preset', 'huge'], 'there is no preset "huge"'],
  ])('ends with status 2 and the reason for %j', (args, text) => {
    const { status, stderr } = spawnSync(process.execPath, [command, ...args], { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toContain(text);
    expect(stderr).not.toContain('    at ');
  });
});
