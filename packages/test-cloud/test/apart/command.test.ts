import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { bundledProgram } from '../../../../testing/bundled-program.js';
import { helpText, readCommand } from '../../src/cli/options.js';
import { formatRequestLine } from '../../src/cli/request-line.js';

const command = await bundledProgram(fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url)));

const terraform = spawnSync('terraform', ['version'], { stdio: 'ignore' }).status === 0;
if (!terraform)
  console.warn('\n*** SKIPPED: how the Terraform block is formatted: this machine has no terraform ***\n');

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

describe('the options of the command', () => {
  it('have complete defaults', () => {
    expect(readCommand([])).toMatchObject({
      print: 'env',
      quiet: false,
      help: false,
      cloud: { port: 8774, transientMs: 150, control: true },
    });
  });

  it('are all in the help, and are parsed', () => {
    const given = readCommand(
      '--port 0 --host ::1 --preset minimal --print clouds.yaml --no-control --wait-for-clients 3 --latency 5 --max-version 2.53 --quiet --user demo --project lab'.split(
        ' ',
      ),
    );
    expect(given).toMatchObject({
      print: 'clouds.yaml',
      quiet: true,
      waitForClientsMs: 3000,
      user: 'demo',
      project: 'lab',
    });
    expect(given.cloud).toMatchObject({
      port: 0,
      host: '::1',
      preset: 'minimal',
      control: false,
      latencyMs: 5,
      maxVersion: '2.53',
    });
    for (const name of [
      'port',
      'host',
      'preset',
      'print',
      'wait-for-clients',
      'control',
      'latency',
      'max-version',
      'quiet',
      'user',
      'project',
    ])
      expect(helpText()).toContain(`--${name}`);
  });

  it.each([
    ['--prot'],
    ['--port', 'x'],
    ['--print', 'toml'],
    ['web'],
    ['--wait-for-clients', 'x'],
    ['--'],
    ['--record', 'x'],
    ['--upstream', 'http://x'],
    ['--record', 'x', '--upstream', 'ftp://x'],
    ['--verify', 'x', '--', 'true'],
  ])('reject %s %s %s %s', (...args) => {
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

  it('contains status, version and request id', () => {
    expect(formatRequestLine(entry, false)).toBe('00:00:00.000 503 GET    /compute/v2.1/servers 2.53 1.5ms req-1');
  });

  it('is colored on terminals with colors', () => {
    expect(formatRequestLine(entry, true)).toContain('\x1b[31m503\x1b[0m');
  });
});

describe('the command', () => {
  async function start(...args: string[]) {
    const child = spawn(process.execPath, [command, '--port', '0', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    running.push(child);
    const log: string[] = [];
    createInterface({ input: child.stderr! }).on('line', (line) => log.push(line));
    const lines: string[] = [];
    createInterface({ input: child.stdout! }).on('line', (line) => lines.push(line));
    await expect.poll(() => log.join('\n')).toContain('The cloud is ready');
    // Standard output is a separate pipe, so its lines may arrive after the log.
    await expect.poll(() => lines).not.toEqual([]);
    return { child, log, lines };
  }

  /** Returns how a process ended, after all of its output has been read. */
  function end(child: ChildProcess): Promise<readonly unknown[]> {
    return child.exitCode === null && child.signalCode === null
      ? once(child, 'close')
      : Promise.resolve([child.exitCode, child.signalCode]);
  }

  it('prints the environment, logs requests, and ends on a signal', async () => {
    const { child, log, lines } = await start();
    const env = Object.fromEntries(lines.map((line) => line.replace(/^export /, '').split('=')));
    expect(env).toMatchObject({ OS_USERNAME: 'admin', OS_PROJECT_NAME: 'demo', OS_REGION_NAME: 'RegionOne' });
    expect((await fetch(env.OS_AUTH_URL)).status).toBe(200);
    await fetch(new URL('/network/v2.0/networks', env.OS_AUTH_URL));
    await expect
      .poll(() => log.join('\n'))
      .toMatch(/200 GET {4}\/identity\/v3 .*\n.* 401 GET {4}\/network\/v2\.0\/networks/);
    child.kill('SIGTERM');
    expect(await end(child)).toEqual([0, null]);
  });

  const authUrlIn = (lines: readonly string[]) => lines.find((line) => line.includes('OS_AUTH_URL'))!.split('=')[1]!;

  it('prints a block for Terraform, with escaped names', async () => {
    const { lines } = await start('--print', 'terraform', '--quiet', '--project', `a "b" ${'$'}{c}`);
    const block = `${lines.join('\n')}\n`;
    expect(block).toContain('provider "openstack" {');
    // In HCL, two dollar signs before a brace represent one.
    const doubled = '$'.repeat(2);
    expect(block).toContain(`tenant_name         = "a \\"b\\" ${doubled}{c}"`);
  });

  it.skipIf(!terraform)('prints a block that the formatter of Terraform does not change', async () => {
    const { lines } = await start('--print', 'terraform', '--quiet', '--project', `a "b" ${'$'}{c}`);
    const given = { input: `${lines.join('\n')}\n`, encoding: 'utf8' } as const;
    expect(spawnSync('terraform', ['fmt', '-check', '-diff', '-'], given)).toMatchObject({ status: 0 });
  });

  it('prints an environment that a shell can read, with any names', async () => {
    const { lines } = await start('--quiet', '--project', "it's $HOME");
    const script = `${lines.join('\n')}\nprintf %s "$OS_PROJECT_NAME"`;
    expect(spawnSync('sh', ['-c', script], { encoding: 'utf8' }).stdout).toBe("it's $HOME");
  });

  it('exits after its last client has disconnected', async () => {
    const { child, lines } = await start('--quiet', '--wait-for-clients', '1');
    await fetch(authUrlIn(lines));
    expect(await end(child)).toEqual([0, null]);
  });

  it('runs a program with the cloud in its environment, and exits with its status', async () => {
    const script = `
      fetch(process.env.OS_AUTH_URL).then(({ status }) => {
        const { TEST_CLOUD_URL, OS_AUTH_URL, OS_CLOUD } = process.env;
        console.log(status, TEST_CLOUD_URL === new URL(OS_AUTH_URL).origin, OS_CLOUD);
        process.exitCode = 7;
      });`;
    const child = spawn(process.execPath, [command, '--quiet', '--', process.execPath, '-e', script], {
      env: { ...process.env, OS_CLOUD: 'another' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    running.push(child);
    let output = '';
    child.stdout!.on('data', (chunk) => {
      output += chunk;
    });
    expect(await end(child)).toEqual([7, null]);
    expect(output.trim()).toBe('200 true undefined');
    const missing = spawnSync(process.execPath, [command, '--', 'no-such-program'], { encoding: 'utf8' });
    expect(missing).toMatchObject({ status: 2, stderr: expect.stringContaining('no-such-program') });
  });

  it('records a cloud and verifies the recording', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-command-'));
    const file = join(folder, 'cloud.har');
    try {
      const cloud = await start('--quiet');
      const args = [command, '--port', '0', '--record', file, '--upstream', authUrlIn(cloud.lines)];
      const recorder = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
      running.push(recorder);
      const [first] = await once(createInterface({ input: recorder.stdout! }), 'line');
      expect((await fetch(authUrlIn([String(first)]))).status).toBe(200);
      recorder.kill('SIGTERM');
      expect(await end(recorder)).toEqual([0, null]);

      const verify = () => spawnSync(process.execPath, [command, '--verify', file], { encoding: 'utf8' });
      expect(verify()).toMatchObject({ status: 0, stdout: '1 responses compared, 0 skipped, 0 differences\n' });
      const har = JSON.parse(readFileSync(file, 'utf8'));
      // The verification repeats a GET until the status matches or a timeout expires, but sends a POST only once.
      har.log.entries[0].request.method = 'POST';
      writeFileSync(file, JSON.stringify(har));
      expect(verify()).toMatchObject({ status: 1, stdout: expect.stringMatching(/status: recorded 200, actual 40\d/) });
      rmSync(file);
      expect(verify()).toMatchObject({ status: 2, stderr: expect.stringContaining('ENOENT') });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('prints a clouds.yaml', async () => {
    const { lines } = await start('--print', 'clouds.yaml', '--quiet');
    expect(lines.slice(0, 2)).toEqual(['clouds:', '  test-cloud:']);
    expect(lines).toContain('  test-cloud-admin:');
    expect(lines.filter((line) => line.includes('username'))).toEqual([
      '      username: demo',
      '      username: admin',
    ]);
  });

  it.each([
    [['--prot', '1'], "Unknown option '--prot'"],
    [['--preset', 'huge'], 'unknown preset "huge"'],
  ])('exits with status 2 and the reason for %j', (args, text) => {
    const { status, stderr } = spawnSync(process.execPath, [command, ...args], { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toContain(text);
    expect(stderr).not.toContain('    at ');
  });
});
