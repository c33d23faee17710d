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
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { findProgram } from '../servers.js';

const root = join(import.meta.dirname, '../..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');

/** An unprivileged user, if this process can switch to it. */
const otherUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Returns every file below a folder once: newer Node versions list the contents of linked folders, too. */
function filesBelow(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return [...new Set(files.map((entry) => realpathSync(join(entry.parentPath, entry.name))))];
}

describe('the server that the Dockerfile and the documents install', () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-install-'));
  const [copy, app, data] = ['copy', 'app', 'data'].map((name) => join(folder, name)) as [string, string, string];
  // The folder of this Node may be inaccessible to other users, such as a home directory.
  const node = join(copy, 'node');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeAll(() => {
    const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const files = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
    for (const file of files) cpSync(join(root, file), join(copy, file), { recursive: true });
    // Repeats the only build step of the Dockerfile, and creates the link to the command.
    const [, step = ''] = /^RUN (node .*) \/app$/m.exec(text('Dockerfile')) ?? [];
    const args = step.split(' ').slice(1);
    const { status, stdout, stderr } = spawnSync(process.execPath, [...args, app], { cwd: copy, encoding: 'utf8' });
    expect([status, status === 0 || `${stdout}${stderr}`]).toEqual([0, true]);
    const [, linked = '', command = ''] = /^RUN ln -s \/app\/(\S+) \S+\/(\w+)$/m.exec(text('Dockerfile')) ?? [];
    symlinkSync(join(app, linked), join(copy, command));
    chmodSync(folder, 0o755);
    cpSync(process.execPath, node);
    mkdirSync(data, { mode: 0o700 });
    if (otherUser.uid !== undefined) chownSync(data, otherUser.uid, otherUser.gid);
    execFileSync('chmod', ['-R', 'a+rX,a-w', app]);
  }, 600_000);

  it('runs as an unprivileged user, writes to its data folder only, and shuts down gracefully', async () => {
    const args = [join(app, 'dist/main.js'), '--port', '0', '--drain-ms', '0'];
    const env = { PATH: process.env.PATH, HOME: '/nonexistent', APISTRATA_DB: join(data, 'compute.db') };
    const child = spawn(node, args, { cwd: data, env, ...otherUser, stdio: ['ignore', 'pipe', 'pipe'] });
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
      ...otherUser,
    });
    expect(JSON.parse(String(status.stdout))).toMatchObject({
      usedBy: expect.stringContaining(`process ${child.pid}`),
    });
    const file = join(data, 'copy.db');
    const backup = spawnSync(node, [args[0]!, 'admin', 'db', 'backup', file], {
      cwd: data,
      env,
      ...otherUser,
    });
    expect([backup.status, statSync(file).mode & 0o777]).toEqual([0, 0o600]);
    child.kill('SIGTERM');
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect(code).toBe(0);
    expect(readdirSync(folder).sort()).toEqual(['app', 'copy', 'data']);
  });

  it('is the command `apistrata`, which prints its version and its help', () => {
    const run = (...args: readonly string[]) =>
      execFileSync(join(copy, 'apistrata'), args, { encoding: 'utf8', env: { PATH: `${copy}:/usr/bin:/bin` } });
    const { version } = JSON.parse(text('examples/reference-server/package.json'));
    expect(run('--version')).toBe(`${version}\n`);
    for (const args of [['--help'], ['-h'], ['help'], ['admin', '--help'], ['admin', '-h'], ['admin', 'help']])
      expect([args, run(...args)]).toEqual([args, expect.stringMatching(/^Usage:\n? *.*apistrata/)]);
  });

  it('consists of a few files and their resources instead of all modules', () => {
    const files = readdirSync(join(app, 'dist'));
    expect(files).toEqual(expect.arrayContaining(['main.js', 'LICENSES.txt']));
    expect(files.length).toBeLessThan(100);
  });

  it('contains nothing that only development needs, and stays small', () => {
    expect(readdirSync(join(app, 'node_modules')).sort()).toEqual(['node-forge', 're2js']);
    expect(readdirSync(app).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'node_modules', 'package.json']);
    const megabytes = filesBelow(app).reduce((sum, file) => sum + statSync(file).size, 0) / 1e6;
    console.log(`the server without Node: ${megabytes.toFixed(1)} MB`);
    expect(megabytes).toBeLessThan(8);
  });
});

describe('the recipes for deployment', () => {
  it('run the image as an unprivileged user, report its health, and contain only the installation', () => {
    const lines = text('Dockerfile').split('\n');
    const [, last] = text('Dockerfile').split(/^FROM alpine/m);
    expect(lines).toContain('RUN node scripts/install-program.mjs server /app');
    expect(last).toMatch(/^USER 10001:10001$/m);
    expect(last).toMatch(/^HEALTHCHECK .*\n {2}CMD \["wget", .*\/livez"\]$/m);
    expect(last).toMatch(/^ENTRYPOINT \["apistrata"\]$/m);
    expect(last!.match(/COPY --from=build \S+/g)).toEqual([
      'COPY --from=build /usr/local/bin/node',
      'COPY --from=build /app',
    ]);
    // Older builders do not support here-documents.
    expect(text('Dockerfile')).not.toContain('<<');
    // The build context must contain everything that the build needs.
    expect(text('.dockerignore')).not.toMatch(/^(scripts|packages|examples|pnpm-lock.yaml)$/m);
  });

  it('allow two API processes to share a database and a key, read-only except where they must write', () => {
    const { services, secrets } = parse(text('compose.yaml'), { merge: true });
    for (const api of [services['api-1'], services['api-2']]) {
      expect(api).toMatchObject({ read_only: true, cap_drop: ['ALL'], build: '.' });
      expect(api.secrets.every((name: string) => Object.hasOwn(secrets, name))).toBe(true);
      // Compose replaces each `$$` with `$` before a shell in the container receives the command.
      const command = /exec apistrata.*/;
      const script = api.command[0].replaceAll('$$', '$').replace('/run/secrets/database', '/dev/null');
      const unexported = spawnSync('sh', ['-c', script.replace(command, 'printf %s "$APISTRATA_DB"')]);
      expect(String(unexported.stdout)).toBe('');
      const exported = spawnSync('sh', ['-c', script.replace(command, 'exec printenv APISTRATA_DB')]);
      expect(String(exported.stdout).trim()).toBe('postgres://apistrata:@postgres:5432/apistrata');
    }
    expect(Object.values<any>(services).flatMap(({ ports = [] }) => ports)).toEqual(['127.0.0.1:8774:8774']);
  });

  it('include a valid systemd unit with a strict sandbox', (context) => {
    const analyze = findProgram('systemd-analyze');
    if (!analyze) return context.skip('*** SKIPPED: this machine has no systemd-analyze ***');
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-unit-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const unit = join(folder, 'apistrata.service');
    cpSync(join(root, 'docs/operating/apistrata.service'), unit);
    execFileSync('sed', ['-i', `s|/usr/bin/node|${process.execPath}|`, unit]);
    const verified = spawnSync(analyze, ['verify', unit], { encoding: 'utf8' });
    expect([verified.status, verified.stderr]).toEqual([0, '']);
    // The threshold is in tenths: the command fails if the exposure level is above 2.0.
    const args = ['security', '--offline=true', '--threshold=20', unit];
    const analysis = spawnSync(analyze, args, { encoding: 'utf8' });
    expect(analysis.stdout).toMatch(/Overall exposure level .*: 1\.\d OK/);
    expect(analysis.status).toBe(0);
  });

  it('mention only existing options', async () => {
    const server = '../../examples/reference-server/src';
    const [{ optionTable }, { databaseCommands }, { engineCommands }] = await Promise.all([
      import(`${server}/options.js`),
      import(`${server}/admin/database-commands.js`),
      import(`${server}/admin/engine-commands.js`),
    ]);
    const commands = Object.values<{ options?: object }>({ ...databaseCommands, ...engineCommands });
    const own = commands.flatMap(({ options = {} }) => Object.keys(options));
    const knownOptions = new Set([...Object.keys(optionTable), ...own, 'json', 'secret-key']);
    const files = [
      'Dockerfile',
      'compose.yaml',
      ...['.md', '/apistrata.service', '/apistrata-machines.service', '/apistrata-host.service', '/nginx.conf'].map(
        (end) => `docs/operating${end}`,
      ),
    ];
    for (const file of files) {
      const named = [
        ...[...text(file).matchAll(/APISTRATA_([A-Z_]+)/g)].map(([, name]) => name!.toLowerCase().replaceAll('_', '-')),
        ...(file.endsWith('.md') ? [...text(file).matchAll(/`--([a-z-]+)/g)].map(([, name]) => name!) : []),
      ];
      expect([file, named.filter((name) => !knownOptions.has(name))]).toEqual([file, []]);
    }
  });
});
