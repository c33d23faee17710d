import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD } from '../src/identity/directory.js';

const source = join(import.meta.dirname, '..');
const PNPM = join(source, '../../scripts/pnpm.mjs');
const built = existsSync(join(source, 'dist/cli/main.js'));
if (!built) console.warn('\n*** SKIPPED: the command as it is published: the packages are not built ***\n');

/** Writes the address of every module that is loaded. */
const HOOKS = `
import { writeSync } from 'node:fs';
export function load(url, context, next) {
  writeSync(1, 'loaded ' + url + '\\n');
  return next(url, context);
}`;
const WATCH = `
import { register } from 'node:module';
register('./hooks.mjs', import.meta.url);`;

describe.skipIf(!built)('the command as it is published', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'apistrata-packed-')));
  const installed = join(folder, 'node_modules', '@apistrata', 'test-cloud');
  let command = '';

  /** What npm makes of the package: its tarball, and what it depends on beside it. */
  beforeAll(() => {
    execFileSync(process.execPath, [PNPM, 'pack', '--pack-destination', folder], {
      cwd: source,
      stdio: 'pipe',
    });
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', join(folder, tarball), '-C', installed, '--strip-components', '1']);
    const { dependencies, optionalDependencies, bin } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    );
    command = join(installed, bin['apistrata-test-cloud']);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const target = join(folder, 'node_modules', name);
      mkdirSync(dirname(target), { recursive: true });
      symlinkSync(realpathSync(join(source, 'node_modules', name)), target, 'junction');
    }
  }, 180_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is a few files, not the thousand that it is made of', () => {
    writeFileSync(join(folder, 'hooks.mjs'), HOOKS);
    writeFileSync(join(folder, 'watch.mjs'), WATCH);
    const args = ['--import', join(folder, 'watch.mjs'), command, '--quiet', '--', process.execPath, '--eval', ''];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const files = stdout.split('\n').filter((line) => line.startsWith('loaded file:'));
    expect(status, stderr).toBe(0);
    expect(files.length).toBeGreaterThan(1);
    expect(files.length).toBeLessThanOrEqual(20);
  });

  it('brings the terms of what is in it', () => {
    const terms = readFileSync(join(dirname(command), 'LICENSES.txt'), 'utf8');
    for (const name of ['express', 'kysely', 'zod', 'find-my-way']) {
      expect(terms).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)\\n\\n.*license`, 'im'));
    }
  });

  it('has all that the cloud reads and loads later: pages, their scripts, certificates', async () => {
    const child = spawn(process.execPath, [command, '--port', '0', '--quiet'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      let printed = '';
      for await (const line of createInterface({ input: child.stdout })) {
        printed = line;
        if (line.includes('OS_AUTH_URL=')) break;
      }
      const { origin } = new URL(printed.split('=')[1]!);
      const get = (path: string) => fetch(origin + path);
      const text = async (path: string) => (await get(path)).text();
      expect(await text('/docs/operations/showServer?version=2.53')).toContain('Shows a server with details');
      const links = [...(await text('/docs')).matchAll(/(?:href|src)="([^"]*\.(?:css|js|svg)(?:\?[^"]*)?)"/g)];
      expect(links.length).toBeGreaterThan(1);
      for (const [, link] of links)
        expect((await get(new URL(link!, `${origin}/docs`).pathname)).status, link).toBe(200);
      const scripts = readdirSync(join(source, 'dist/page/browser')).filter((name) => name.endsWith('.js'));
      expect(scripts.length).toBeGreaterThan(5);
      for (const name of scripts) expect((await get(`/_page/${name}`)).status, name).toBe(200);

      const identity = {
        methods: ['password'],
        password: { user: { name: 'admin', password: PASSWORD, domain: { id: 'default' } } },
      };
      const login = { auth: { identity, scope: { project: { name: 'demo', domain: { id: 'default' } } } } };
      const json = { 'Content-Type': 'application/json' };
      const post = (path: string, headers: Record<string, string>, body: unknown) =>
        fetch(origin + path, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) });
      const token = (await post('/identity/v3/auth/tokens', {}, login)).headers.get('x-subject-token')!;
      const version = { 'X-Auth-Token': token, 'OpenStack-API-Version': 'compute 2.53' };
      const made = await post('/compute/v2.1/os-keypairs', version, { keypair: { name: 'k', type: 'x509' } });
      expect(await made.json()).toMatchObject({
        keypair: { public_key: expect.stringContaining('BEGIN CERTIFICATE') },
      });
    } finally {
      child.kill('SIGKILL');
    }
  });
});
