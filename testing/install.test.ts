import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { findProgram } from './servers.js';

const root = join(import.meta.dirname, '..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');

/** A user without rights, where this one may become another. */
const stranger = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Returns every file below a folder once: newer versions of Node list the contents of linked folders, too. */
function filesBelow(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return [...new Set(files.map((entry) => realpathSync(join(entry.parentPath, entry.name))))];
}

describe('the server that the Dockerfile and the documents install', () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-install-'));
  const [copy, app, data] = ['copy', 'app', 'data'].map((name) => join(folder, name)) as [string, string, string];
  // The folder of this Node may be closed to others, as a home is.
  const node = join(copy, 'node');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeAll(() => {
    const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const files = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
    for (const file of files) cpSync(join(root, file), join(copy, file), { recursive: true });
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/install-server.mjs', app], {
      cwd: copy,
      encoding: 'utf8',
    });
    expect([status, status === 0 || `${stdout}${stderr}`]).toEqual([0, true]);
    chmodSync(folder, 0o755);
    cpSync(process.execPath, node);
    mkdirSync(data, { mode: 0o700 });
    if (stranger.uid !== undefined) chownSync(data, stranger.uid, stranger.gid);
    execFileSync('chmod', ['-R', 'a+rX,a-w', app]);
  }, 600_000);

  it('runs as a user without rights, writes to its data folder only, and ends in order', async () => {
    const args = [join(app, 'dist/main.js'), '--port', '0', '--drain-ms', '0'];
    const env = { PATH: process.env.PATH, HOME: '/nonexistent', APISTRATA_DB: join(data, 'compute.db') };
    const child = spawn(node, args, { cwd: data, env, ...stranger, stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    await expect.poll(() => output).toContain('Compute API http');
    const url = /Compute API (http:\S+)\/v2\.1/.exec(output)![1]!;
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const headers = { 'X-Auth-Token': 'ada:demo', 'Content-Type': 'application/json' };
    const body = JSON.stringify({ keypair: { name: 'k' } });
    expect((await fetch(`${url}/v2.1/os-keypairs`, { method: 'POST', headers, body })).status).toBe(200);
    expect((await fetch(`${url}/docs/`)).status).toBe(200);

    const status = spawnSync(node, [args[0]!, 'admin', 'status', '--json'], {
      cwd: data,
      env,
      ...stranger,
    });
    expect(JSON.parse(String(status.stdout))).toMatchObject({
      usedBy: expect.stringContaining(`process ${child.pid}`),
    });
    const file = join(data, 'copy.db');
    const backup = spawnSync(node, [args[0]!, 'admin', 'db', 'backup', file], {
      cwd: data,
      env,
      ...stranger,
    });
    expect([backup.status, statSync(file).mode & 0o777]).toEqual([0, 0o600]);
    child.kill('SIGTERM');
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect(code).toBe(0);
    expect(readdirSync(folder).sort()).toEqual(['app', 'copy', 'data']);
  });

  it('is a few files and what they look for beside themselves, not the modules that it is made of', () => {
    const files = readdirSync(join(app, 'dist'));
    expect(files).toEqual(expect.arrayContaining(['main.js', 'LICENSES.txt']));
    expect(files.length).toBeLessThan(100);
    const imported = files.flatMap((file) => [
      ...readFileSync(join(app, 'dist', file), 'utf8').matchAll(/^import\b[^;`]*`([^`.][^`]*)`;/gm),
    ]);
    const others = imported.map(([, id]) => id!).filter((id) => !isBuiltin(id));
    expect(others.filter((id) => id !== 'node-forge')).toEqual([]);
  });

  it('has nothing in it that only development needs, and stays small', () => {
    const packages = readdirSync(join(app, 'node_modules/.pnpm'));
    for (const name of [
      'typescript',
      'vitest',
      '@biomejs+biome',
      '@apistrata+test-cloud',
      'playwright-core',
      'better-sqlite3',
    ])
      expect(packages.filter((entry) => entry.startsWith(`${name}@`))).toEqual([]);
    expect(readdirSync(app).sort()).toEqual(expect.not.arrayContaining(['src', 'test']));
    const megabytes = filesBelow(app).reduce((sum, file) => sum + statSync(file).size, 0) / 1e6;
    console.log(`the server without Node: ${megabytes.toFixed(1)} MB`);
    expect(megabytes).toBeLessThan(40);
  });
});

describe('the recipes around it', () => {
  it('the image runs as nobody special, says how it is, and has only what was installed', () => {
    const lines = text('Dockerfile').split('\n');
    const [, last] = text('Dockerfile').split(/^FROM alpine/m);
    expect(lines).toContain('RUN node scripts/install-server.mjs /app');
    expect(last).toMatch(/^USER 10001:10001$/m);
    expect(last).toMatch(/^HEALTHCHECK .*\n {2}CMD \["wget", .*\/livez"\]$/m);
    expect(last).toMatch(/^ENTRYPOINT \["node", "\/app\/dist\/main.js"\]$/m);
    expect(last!.match(/COPY --from=build \S+/g)).toEqual([
      'COPY --from=build /usr/local/bin/node',
      'COPY --from=build /app',
    ]);
    // Texts within the file are beyond what older builders read.
    expect(text('Dockerfile')).not.toContain('<<');
    // What the build needs must not be left out of what it is sent.
    expect(text('.dockerignore')).not.toMatch(/^(scripts|packages|examples|pnpm-lock.yaml)$/m);
  });

  it('two processes of the API share a database and a key, read-only but for what they must write', () => {
    const { services, secrets } = parse(text('compose.yaml'), { merge: true });
    for (const api of [services['api-1'], services['api-2']]) {
      expect(api).toMatchObject({ read_only: true, cap_drop: ['ALL'], build: '.' });
      expect(api.secrets.every((name: string) => Object.hasOwn(secrets, name))).toBe(true);
      // In a shell of the container: two dollars are one there.
      const script = api.command[0].replaceAll('$$', '$').replace('/run/secrets/database', '/dev/null');
      const told = spawnSync('sh', ['-c', script.replace('exec node /app/dist/main.js', 'printf %s "$APISTRATA_DB"')]);
      expect(String(told.stdout)).toBe('');
      const exported = spawnSync('sh', ['-c', script.replace('node /app/dist/main.js', 'printenv APISTRATA_DB')]);
      expect(String(exported.stdout).trim()).toBe('postgres://apistrata:@postgres:5432/apistrata');
    }
    expect(Object.values<any>(services).flatMap(({ ports = [] }) => ports)).toEqual(['127.0.0.1:8774:8774']);
  });

  it('the unit of systemd is one, and its sandbox is tight', (context) => {
    const analyze = findProgram('systemd-analyze');
    if (!analyze) return context.skip('*** SKIPPED: this machine has no systemd-analyze ***');
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-unit-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const unit = join(folder, 'apistrata.service');
    cpSync(join(root, 'docs/operating/apistrata.service'), unit);
    execFileSync('sed', ['-i', `s|/usr/bin/node|${process.execPath}|`, unit]);
    const verified = spawnSync(analyze, ['verify', unit], { encoding: 'utf8' });
    expect([verified.status, verified.stderr]).toEqual([0, '']);
    // Exposure in tenths: above 2.0 the command fails.
    const args = ['security', '--offline=true', '--threshold=20', unit];
    const judged = spawnSync(analyze, args, { encoding: 'utf8' });
    expect(judged.stdout).toMatch(/Overall exposure level .*: 1\.\d OK/);
    expect(judged.status).toBe(0);
  });

  it('every option that they name exists', async () => {
    const server = '../examples/reference-server/src';
    const [{ optionTable }, { databaseCommands }, { engineCommands }] = await Promise.all([
      import(`${server}/options.js`),
      import(`${server}/admin/database-commands.js`),
      import(`${server}/admin/engine-commands.js`),
    ]);
    const commands = Object.values<{ options?: object }>({ ...databaseCommands, ...engineCommands });
    const own = commands.flatMap(({ options = {} }) => Object.keys(options));
    const known = new Set([...Object.keys(optionTable), ...own, 'json', 'secret-key']);
    const files = [
      'Dockerfile',
      'compose.yaml',
      ...['.md', '/apistrata.service', '/nginx.conf'].map((end) => `docs/operating${end}`),
    ];
    for (const file of files) {
      const named = [
        ...[...text(file).matchAll(/APISTRATA_([A-Z_]+)/g)].map(([, name]) => name!.toLowerCase().replaceAll('_', '-')),
        ...(file.endsWith('.md') ? [...text(file).matchAll(/`--([a-z-]+)/g)].map(([, name]) => name!) : []),
      ];
      expect([file, named.filter((name) => !known.has(name))]).toEqual([file, []]);
    }
  });
});
