import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
// @ts-expect-error: scripts have no types
import { installedFolderOf, writePublishedForm } from '../../scripts/published-form.mjs';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'apistrata-examples-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (path: string): Manifest => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));

/** Links a package into a project, as an installation does. */
function link(project: string, name: string, source: string): void {
  const target = join(project, 'node_modules', name);
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(installedFolderOf(source, name), target);
}

/** Installs one of our packages in its published form, with its dependencies, once. */
async function install(project: string, name: string, done = new Set<string>()): Promise<void> {
  if (done.has(name)) return;
  done.add(name);
  const source = join('packages', name.replace('@apistrata/', ''));
  const target = join(project, 'node_modules', name);
  await writePublishedForm(source, target);
  for (const needed of Object.keys(manifestOf(join(root, source)).dependencies ?? {})) {
    if (needed.startsWith('@apistrata/')) await install(project, needed, done);
    else link(target, needed, join(root, source));
  }
}

/** Copies an example out of the repository, and installs what its manifest names. */
async function copy(example: string): Promise<string> {
  const source = join(root, 'examples', example);
  const project = join(folder, example);
  const ignored = ['node_modules', 'dist', 'test', 'tsconfig.workspace.json'].map((name) => join(source, name));
  cpSync(source, project, { recursive: true, filter: (path) => !ignored.includes(path) });
  const { dependencies = {}, devDependencies = {} } = manifestOf(project);
  const needed = { ...dependencies, ...devDependencies };
  expect(Object.values(needed).filter((range) => range.startsWith('workspace:'))).toEqual([]);
  const done = new Set<string>();
  for (const name of Object.keys(needed)) {
    if (name.startsWith('@apistrata/')) await install(project, name, done);
    else link(project, name, source);
  }
  return project;
}

/** Starts a program on a free port; resolves to the status of its first response. */
async function statusOf(project: string, program: string, path: string): Promise<number> {
  const preload = `data:text/javascript,${encodeURIComponent(
    "import { Server } from 'node:net'; const { listen } = Server.prototype; Server.prototype.listen = function (...parts) { this.once('listening', () => process.stderr.write('port ' + this.address().port + '\\n')); return listen.apply(this, parts); };",
  )}`;
  const env = { ...process.env, PORT: '0', HTTP2_PORT: '0' };
  const child = spawn(process.execPath, ['--import', preload, program], { cwd: project, env, stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const port = () => /^port (\d+)$/m.exec(output)?.[1];
  await expect.poll(() => port() ?? (child.exitCode === null ? undefined : output)).toMatch(/^\d+$/);
  const { status } = await fetch(`http://127.0.0.1:${port()}${path}`);
  return status;
}

describe('examples outside of the repository', () => {
  it.each([
    ['drop-in', '/healthcheck'],
    ['health-only', '/healthcheck'],
    ['dated-api', '/docs'],
  ])('%s compiles and starts', async (example, path) => {
    const project = await copy(example);
    execFileSync(process.execPath, [join(project, 'node_modules/typescript/bin/tsc')], { cwd: project });
    expect(await statusOf(project, 'dist/main.js', path)).toBe(200);
  });

  it('frameworks starts in each framework', async () => {
    const project = await copy('frameworks');
    for (const program of ['express', 'fastify', 'koa', 'hono', 'node-http'])
      expect([program, await statusOf(project, `src/${program}.mjs`, '/healthcheck')]).toEqual([program, 200]);
  });
});
