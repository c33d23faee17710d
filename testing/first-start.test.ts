import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
// @ts-expect-error: scripts have no types
import { nodeFolder } from './release/tools.mjs';
import { findProgram } from './servers.js';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'apistrata-first-start-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The registry that this machine uses; its other settings do not apply to the tests. */
const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', stdio: 'pipe' }).trim();

/** How this machine reaches the registry: through a proxy, or with certificates of its own. */
const connection = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(https?_proxy|no_proxy|node_extra_ca_certs|node_use_system_ca|ssl_cert_file)$/i.test(name),
  ),
);

function writeProgram(path: string, ...lines: readonly string[]): void {
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
}

/**
 * Puts a copy of this repository into a folder, with an environment in which nothing is prepared: no caches, no settings of
 * npm, and compilers that fail. `scripts` is the path of a file with every script that npm or pnpm runs, `compilers` one with
 * every call of a compiler.
 */
function freshCopy(name: string, node: string) {
  const place = (part: string) => join(folder, name, part);
  for (const part of ['copy', 'home', 'bin']) mkdirSync(place(part), { recursive: true });
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0');
  for (const file of files.filter((file) => file && existsSync(join(root, file))))
    cpSync(join(root, file), join(place('copy'), file), { recursive: true });

  const [scripts, compilers] = [place('scripts'), place('compilers')];
  for (const compiler of ['cc', 'gcc', 'g++', 'make', 'python3', 'node-gyp'])
    writeProgram(join(place('bin'), compiler), `echo "${compiler} $*" >> '${compilers}'`, 'exit 1');
  writeProgram(place('shell'), `echo "$*" >> '${scripts}'`, 'exec /bin/sh "$@"');
  // npm of this machine, run by the Node under test.
  symlinkSync(node, join(place('bin'), 'node'));
  symlinkSync(findProgram('npm')!, join(place('bin'), 'npm'));
  const env = {
    ...connection,
    PATH: [place('bin'), '/usr/bin', '/bin'].join(':'),
    HOME: place('home'),
    npm_config_registry: registry,
    npm_config_script_shell: place('shell'),
    pnpm_config_script_shell: place('shell'),
  };
  const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
  return { copy: place('copy'), env, scripts: () => read(scripts), compilers: () => read(compilers) };
}

/** Runs `npm start` until the server has answered, and ends it. Returns the output. */
async function start(cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const args = ['start', '--', '--port', '0', '--drain-ms', '0'];
  const child = spawn('npm', args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const end = (signal: NodeJS.Signals) => {
    try {
      process.kill(-child.pid!, signal);
    } catch {
      // It has ended.
    }
  };
  onTestFinished(() => end('SIGKILL'));
  const closed = new Promise((resolve) => child.once('close', resolve));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  let ended = false;
  void closed.then(() => (ended = true));
  const address = () => /Compute API (http:\S+)\/v2\.1/.exec(output)?.[1];
  await expect.poll(() => ended || address() !== undefined, { timeout: 500_000 }).toBe(true);
  expect([address() !== undefined, output]).toEqual([true, output]);
  expect((await fetch(`${address()}/v2.1/flavors`, { headers: { 'X-Auth-Token': 'ada:demo' } })).status).toBe(200);
  end('SIGTERM');
  await closed;
  return output;
}

describe.runIf(process.platform === 'linux')('the first start on a machine where nothing is prepared', () => {
  it.each(['20.19', '24'])(
    'works with Node %s, and runs no install script and no compiler',
    async (major) => {
      const { copy, env, scripts, compilers } = freshCopy(major, join(await nodeFolder(major), 'node'));
      const first = await start(copy, env);
      expect(first).toContain('Installing packages ...\nBundling the server ...\n');
      expect(first.includes('the server runs with Node 24')).toBe(major !== '24');
      const second = await start(copy, env);
      expect(second).not.toMatch(/Fetching|Installing|Bundling/);
      expect(scripts()).toEqual(Array(2).fill(expect.stringMatching(/^-c node scripts\/start\.mjs /)));
      expect(compilers()).toEqual([]);
    },
    600_000,
  );

  it('names the cause, the remedy and the log when the registry is not reachable', async () => {
    const { copy, env } = freshCopy('unreachable', process.execPath);
    const settings = { npm_config_registry: 'http://127.0.0.1:1/', npm_config_fetch_retries: '0' };
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/start.mjs'], {
      cwd: copy,
      env: { ...env, ...settings },
      encoding: 'utf8',
    });
    const log = join(copy, 'node_modules/.cache/apistrata/start.log');
    expect([status, stdout, stderr.split('\n')]).toEqual([
      1,
      'Fetching pnpm ...\n',
      [
        expect.stringMatching(/^Fetching pnpm failed: .*connect ECONNREFUSED 127\.0\.0\.1:1$/),
        'Check that the npm registry is reachable (`npm ping`), then run `npm start` again.',
        `The log: ${log}`,
        '',
      ],
    ]);
    expect(readFileSync(log, 'utf8')).toContain('npm error code ECONNREFUSED');
  });
});
