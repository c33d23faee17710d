import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
// @ts-expect-error: scripts have no types
import { publishPacked } from '../release/publish.mjs';
// @ts-expect-error: scripts have no types
import { startRegistry } from '../release/registry.mjs';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'apistrata-examples-'));

/** The packages that the examples use, and those that these packages need. */
const PACKAGES = ['explorer', 'healthcheck', 'microversion', 'microversion-router', 'quota', 'request-id', 'ui'];

/** Whether third-party packages, which the installations need, are available. */
const online = spawnSync('npm', ['view', 'express', 'version'], { timeout: 60_000 }).status === 0;
if (!online) console.warn('\n*** SKIPPED: the copied examples: no registry can be reached ***\n');

/** A local registry that contains our packages, and forwards requests for others. */
let registry: { readonly env: NodeJS.ProcessEnv; stop(): Promise<void> } | undefined;
beforeAll(async () => {
  if (!online) return;
  registry = await startRegistry(join(folder, 'registry'));
  const packed = join(folder, 'packed');
  mkdirSync(packed);
  publishPacked(PACKAGES, packed, registry!.env);
}, 300_000);
afterAll(async () => {
  await registry?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Copies an example out of the repository, and installs it with npm. */
function copy(example: string): string {
  const source = join(root, 'examples', example);
  const project = join(folder, example);
  const ignored = ['node_modules', 'dist', 'test', 'tsconfig.workspace.json'].map((name) => join(source, name));
  cpSync(source, project, { recursive: true, filter: (path) => !ignored.includes(path) });
  expect(readFileSync(join(project, 'package.json'), 'utf8')).not.toContain('workspace:');
  runNpm(project, 'install', '--no-audit', '--no-fund');
  return project;
}

function runNpm(project: string, ...args: readonly string[]): void {
  execFileSync('npm', args, { cwd: project, env: registry?.env, stdio: 'pipe' });
}

/** Prints the class and the port of each server of a program. */
const PRELOAD = `data:text/javascript,${encodeURIComponent(`import { Server } from 'node:net';
const { listen } = Server.prototype;
Server.prototype.listen = function (...parts) {
  this.once('listening', () => process.stderr.write(this.constructor.name + ' ' + this.address().port + '\\n'));
  return listen.apply(this, parts);
};`)}`;

/** Starts a program on free ports; resolves to the origin of its server of a class. */
async function start(project: string, program: string, kind = 'Server'): Promise<string> {
  const env = { ...process.env, PORT: '0', HTTP2_PORT: '0' };
  const child = spawn(process.execPath, ['--import', PRELOAD, program], { cwd: project, env, stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const port = () => new RegExp(`^${kind} (\\d+)$`, 'm').exec(output)?.[1];
  await expect.poll(() => port() ?? (child.exitCode === null ? undefined : output)).toMatch(/^\d+$/);
  return `http://127.0.0.1:${port()}`;
}

const statusOf = async (url: string, method = 'GET') => (await fetch(url, { method })).status;

describe.skipIf(!online)('examples outside of the repository, installed with npm', () => {
  it.each([
    ['drop-in', '/healthcheck'],
    ['health-only', '/healthcheck'],
    ['dated-api', '/docs'],
  ])('%s compiles and starts', { timeout: 300_000 }, async (example, path) => {
    const project = copy(example);
    runNpm(project, 'run', 'build');
    expect(await statusOf(`${await start(project, 'dist/main.js')}${path}`)).toBe(200);
  });

  it('frameworks starts in each framework', { timeout: 300_000 }, async () => {
    const project = copy('frameworks');
    for (const program of ['express', 'fastify', 'koa', 'hono', 'node-http'])
      expect([program, await statusOf(`${await start(project, `src/${program}.mjs`)}/healthcheck`)]).toEqual([
        program,
        200,
      ]);
    runNpm(project, 'run', 'build:nest');
    expect(await statusOf(`${await start(project, 'dist/nest.js')}/healthcheck`)).toBe(200);
    expect(await statusOf(`${await start(project, 'src/cors.mjs')}/notes`, 'POST')).toBe(201);

    const client = connect(await start(project, 'src/http2.mjs', 'Http2Server'));
    onTestFinished(() => client.destroy());
    const [headers] = await once(client.request({ ':path': '/healthcheck' }), 'response');
    expect(headers[':status']).toBe(200);
  });
});
