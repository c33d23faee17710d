import { execFile } from 'node:child_process';
import {
  cpSync,
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
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createEngine } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { newestSupported } from '../../src/index.js';
import { type Client, clientsOf, ids } from '../api-under-test.js';
import { databaseUnderTest } from '../database-under-test.js';

const repository = fileURLToPath(new URL('../../../..', import.meta.url));
const page = readFileSync(join(repository, 'docs/adding-a-microversion.md'), 'utf8');
/** A change in a diff on the page: lines that occur once in a file, and their replacement. */
interface Hunk {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

const hunks: readonly Hunk[] = [...page.matchAll(/^```diff\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
  block.split(/^--- .*\n/m).flatMap((change) => {
    const [head = '', ...parts] = change.split(/^@@\n/m);
    const file = /^\+\+\+ b\/(.*)$/m.exec(head)?.[1];
    return parts.map((part) => {
      const lines = part.replace(/\n$/, '').split('\n');
      const side = (other: string) =>
        lines.filter((line) => !line.startsWith(other)).map((line) => `${line.slice(1)}\n`);
      return { file: file ?? '', before: side('+').join(''), after: side('-').join('') };
    });
  }),
);

/** Folders that are not copied, because Git, installations and builds create them. */
const WRITTEN = new Set(['.git', 'node_modules', 'dist', 'published']);

/**
 * Links the third-party modules of a folder. Copies the links to this repository's packages: they are relative, so they
 * refer to the packages in the copy.
 */
function linkModules(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(join(to, '@apistrata'), { recursive: true });
  for (const name of readdirSync(from)) if (name !== '@apistrata') symlinkSync(join(from, name), join(to, name));
  const own = join(from, '@apistrata');
  if (existsSync(own)) cpSync(own, join(to, '@apistrata'), { recursive: true, verbatimSymlinks: true });
}

/** Creates a copy of the repository's files with the installed third-party packages. */
function copyOfSources(): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'next-microversion-')));
  cpSync(repository, copy, { recursive: true, filter: (file) => !WRITTEN.has(basename(file)) });
  linkModules(join(repository, 'node_modules'), join(copy, 'node_modules'));
  for (const folder of ['packages', 'examples'])
    for (const name of readdirSync(join(copy, folder)))
      linkModules(join(repository, folder, name, 'node_modules'), join(copy, folder, name, 'node_modules'));
  const compilerOptions = { composite: false, declaration: false, declarationMap: false, noEmit: true };
  const include = ['packages/compute-router/src', 'packages/compute-engine/src'];
  const exclude = ['**/*.test.ts'];
  writeFileSync(
    join(copy, 'tsconfig.json'),
    JSON.stringify({ extends: './tsconfig.base.json', compilerOptions, include, exclude }),
  );
  return copy;
}

function apply({ file, before, after }: Hunk, copy: string): void {
  const path = join(copy, file);
  if (before === '') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, after, { flag: 'wx' });
    return;
  }
  const [start, ...rest] = readFileSync(path, 'utf8').split(before);
  if (rest.length !== 1) throw new Error(`${file} has these lines ${rest.length} times:\n${before}`);
  writeFileSync(path, `${start}${after}${rest[0]}`);
}

describe('the example microversion of docs/adding-a-microversion.md', () => {
  const next = newestSupported().next().text;
  const last = newestSupported().text;
  let copy: string;
  let server: HttpServer;
  let end: () => Promise<void>;
  let as: (token: string, version?: string) => Client;
  /** The id of a server that was stored before the field existed. */
  let older: string;

  beforeAll(async () => {
    copy = copyOfSources();
    for (const hunk of hunks) apply(hunk, copy);
    const database = await databaseUnderTest();
    const url = database.url === ':memory:' ? join(copy, 'compute.db') : database.url;
    older = await storedByThisVersion(url);
    const load = (name: string) =>
      import(/* @vite-ignore */ pathToFileURL(join(copy, 'packages', name, 'src/index.ts')).href);
    const [engines, routers] = [await load('compute-engine'), await load('compute-router')];
    expect(routers.newestSupported().text).toBe(next);
    const engine: Awaited<ReturnType<typeof createEngine>> = await engines.createEngine({ database: url });
    const options = { engine, identity: routers.noauth(), maxVersion: next, validateReplies: true };
    server = createServer({ keepAliveTimeout: 60_000 }, routers.computeRouter(options));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    as = clientsOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => engine.idle());
    end = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await engine.close();
      database.release();
    };
  }, 300_000);

  afterAll(async () => {
    await end?.();
    if (copy) rmSync(copy, { recursive: true, force: true });
  });

  async function storedByThisVersion(url: string): Promise<string> {
    const engine = await createEngine({ database: url });
    const caller = { userId: 'ada', projectId: 'p1', roles: ['member'] };
    const context = { caller, isAdmin: false, requestId: 'req-older' };
    const request = { name: 'older', flavorId: ids.tiny, imageId: ids.image, networks: 'none' } as const;
    const { servers } = await engine.servers.create(context, request);
    await engine.idle();
    await engine.close();
    return servers[0]!.id;
  }

  const namesIn = (body: any) => body.servers.map(({ name }: { name: string }) => name);

  it('consists of all diffs of the page, at least two', () => {
    expect(hunks.length).toBeGreaterThan(8);
    expect(hunks.filter(({ file, before, after }) => file === '' || before === after)).toEqual([]);
  });

  // Types do not depend on the database.
  it.runIf(inject('database') === 'sqlite')('compiles', { timeout: 300_000 }, async () => {
    const compiler = join(repository, 'node_modules/typescript7/bin/tsc');
    const output = await promisify(execFile)(process.execPath, [compiler, '-p', copy], { cwd: copy }).catch(
      (error) => error,
    );
    expect(output.stdout).toBe('');
    expect(output.code).toBeUndefined();
  });

  it('accepts, shows and changes the field since its version, and neither accepts nor shows it before', async () => {
    const ada = as('ada:p1', next);
    const server = { name: 'web', flavorRef: ids.tiny, imageRef: ids.image, networks: 'none', purpose: 'shop' };
    expect(await as('ada:p1', last).post('/servers', { server })).toMatchObject({ status: 400 });
    expect(await ada.post('/servers', { server: { ...server, purpose: 'x'.repeat(61) } })).toMatchObject({
      status: 400,
    });
    const created = await ada.boot({ purpose: undefined });
    expect(created.purpose).toBeNull();
    const { id } = (await ada.post('/servers', { server })).body.server;
    const shown = (await ada.get(`/servers/${id}`)).body.server;
    expect(shown.purpose).toBe('shop');
    expect((await as('ada:p1', last).get(`/servers/${id}`)).body.server).not.toHaveProperty('purpose');
    const updated = await ada.put(`/servers/${id}`, { server: { purpose: 'blog' } });
    expect(updated).toMatchObject({ status: 200, body: { server: { purpose: 'blog' } } });
    await ada.act(id, 'rebuild', { imageRef: ids.image, purpose: 'wiki' });
    expect((await ada.get(`/servers/${id}`)).body.server.purpose).toBe('wiki');
  });

  it('shows the default of servers that were stored before, and can change it', async () => {
    const ada = as('ada:p1', next);
    expect((await ada.get(`/servers/${older}`)).body.server).toMatchObject({ name: 'older', purpose: null });
    await ada.put(`/servers/${older}`, { server: { purpose: 'museum' } });
    expect((await ada.get(`/servers/${older}`)).body.server.purpose).toBe('museum');
  });

  it('filters and sorts lists by the new field since its version', async () => {
    const ada = as('ada:p3', next);
    for (const [name, purpose] of [
      ['b', 'shop'],
      ['c', 'blog'],
      ['a', undefined],
    ]) {
      await ada.post('/servers', {
        server: { name, flavorRef: ids.tiny, imageRef: ids.image, networks: 'none', purpose },
      });
    }
    expect(namesIn((await ada.get('/servers?purpose=^sh')).body)).toEqual(['b']);
    expect(namesIn((await ada.get('/servers?sort_key=purpose&sort_dir=asc')).body)).toEqual(['a', 'c', 'b']);
    expect(await as('ada:p3', last).get('/servers?purpose=shop')).toMatchObject({ status: 400 });
    expect(await as('ada:p3', last).get('/servers?sort_key=purpose')).toMatchObject({ status: 400 });
  });

  it('has the action, and older versions do not', async () => {
    const ada = as('ada:p1', next);
    const { id } = await ada.boot();
    expect((await as('ada:p1', last).act(id, 'powerCycle')).status).toBe(404);
    expect((await as('eve:p1:reader', next).act(id, 'powerCycle')).status).toBe(403);
    expect((await ada.act(id, 'powerCycle')).status).toBe(202);
    const { instanceActions } = (await ada.get(`/servers/${id}/os-instance-actions`)).body;
    expect(instanceActions[0]).toMatchObject({ action: 'powerCycle' });
    expect((await ada.get(`/servers/${id}`)).body.server).toMatchObject({ status: 'ACTIVE' });
  });

  // The suites compare the API with the reference files, which do not depend on the database.
  it.runIf(inject('database') === 'sqlite')(
    'passes the contract tests, which call the new field, filter and action',
    { timeout: 1_200_000 },
    async () => {
      const vitest = join(copy, 'node_modules', 'vitest', 'vitest.mjs');
      const suites = ['contract', 'description', 'history-page', 'policy', 'versions', 'views'];
      const paths = suites.map((name) => `compute-router/test/${name}`);
      const args = ['run', ...paths, 'compute-router/src', 'compute-engine/test/actions'];
      const projects = ['--project', 'sqlite', '--project', 'sqlite-engine'];
      const run = await promisify(execFile)(process.execPath, [vitest, ...args, ...projects, '-u'], {
        cwd: copy,
        maxBuffer: 2 ** 26,
      }).catch((error) => error);
      expect(run.code, `${run.stdout}${run.stderr}`.slice(-10_000)).toBeUndefined();
      const written = (name: string) => readFileSync(join(copy, 'docs', name), 'utf8');
      expect(written('coverage.md')).toMatch(/^\| `POST \/servers\/\{id\}\/action powerCycle` \| 2\.105 .* 202 \|/m);
      expect(written('actions.md')).toContain('| `powerCycle` |');
      expect(written('compute-api-history.md')).toContain('## 2.105');
    },
  );
});
