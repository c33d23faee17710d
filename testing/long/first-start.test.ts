import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
// @ts-expect-error: scripts have no types
import { cleanEnvironment } from '../release/clean-environment.mjs';
// @ts-expect-error: scripts have no types
import { nodeOf } from '../release/tools.mjs';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'apistrata-first-start-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The registry that this machine uses; its other settings do not apply to the tests. */
const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', stdio: 'pipe' }).trim();

/** The access to the registry: a proxy, or custom certificates. */
const connection = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(https?_proxy|no_proxy|node_extra_ca_certs|node_use_system_ca|ssl_cert_file)$/i.test(name),
  ),
);

/** Copies this repository into a folder, with an environment in which nothing is prepared. */
function freshCopy(name: string, node: string) {
  const copy = join(folder, name, 'copy');
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0');
  for (const file of files.filter((file) => file && existsSync(join(root, file))))
    cpSync(join(root, file), join(copy, file), { recursive: true });
  const { env, scripts, compilers } = cleanEnvironment(join(folder, name), node);
  return { copy, env: { ...connection, ...env, npm_config_registry: registry }, scripts, compilers };
}

/** Runs `npm start` until the server responds, and ends it. Returns the output. */
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

describe.runIf(process.platform === 'linux')('the first start on an unprepared machine', () => {
  it.each(['20.19', '24'])(
    'succeeds with Node %s, and runs no install script and no compiler',
    async (major) => {
      const { copy, env, scripts, compilers } = freshCopy(major, await nodeOf(major));
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

  it('reports the cause, the fix and the log if the registry is unreachable', async () => {
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
