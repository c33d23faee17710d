import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { helpText, parseCommandLine } from '../src/cli/command.js';
import { loadApi } from '../src/cli/load-api.js';

const command = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
if (!existsSync(command)) console.warn('\n*** SKIPPED: the command: the packages are not built ***\n');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'explorer-command-'));
  const lines = `export const operations = [{ method: 'GET', path: '/things', summary: 'List things', status: 200, run() {} }];
    export const description = { title: 'Things' };
    export const MIN_VERSION = '1.0';
    export const MAX_VERSION = '1.3';`;
  writeFileSync(join(folder, 'things.mjs'), lines);
  writeFileSync(join(folder, 'broken.mjs'), 'import "./nothing.mjs";');
  writeFileSync(join(folder, 'empty.mjs'), 'export const something = 1;');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the command line', () => {
  it('parses its arguments', () => {
    expect(
      parseCommandLine(['openapi', '--version', '2.53', '--actions', 'separate', '--out', 'a.json']),
    ).toMatchObject({
      name: 'openapi',
      files: [],
      version: '2.53',
      to: undefined,
      operations: undefined,
      out: 'a.json',
      actions: 'separate',
      format: 'markdown',
    });
    expect(parseCommandLine(['types', '--help'])).toBeUndefined();
    for (const name of ['version', 'to', 'operations', 'out', 'actions', 'format'])
      expect(helpText()).toContain(`--${name}`);
  });

  it.each([
    ['', /serve, build, check, changes, openapi, types/],
    ['toml', /Unknown command "toml"\. Commands: serve, build, check, changes, openapi, types/],
    ['openapi --versoin 2.1', /--versoin.*Known options: --version, --to/],
    ['openapi --version', /--version/],
    ['openapi 2.1', /Unexpected argument "2.1"/],
    ['openapi --format json', /does not support --format, which is an option of changes/],
    ['changes --version 2.1', /such as --version 2.53 --to 2.100/],
    ['changes --version 2.1 --to 2.2 --format toml', /--format must be markdown or json, not "toml"/],
    ['openapi --version 2.1 --to 2.2', /an output folder, --out/],
    ['openapi --actions apart', /--actions must be one-of or separate/],
  ])('reports one line for "%s"', (line, message) => {
    try {
      parseCommandLine(line.split(' ').filter(Boolean));
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'COMMAND_LINE', message: expect.stringMatching(message) });
      expect((error as Error).message).not.toContain('\n');
    }
  });

  it.each([
    ['./nothing.mjs', /The file .*nothing\.mjs does not exist: --operations must/],
    ['no-such-package', /The package "no-such-package" is not installed/],
    ['./broken.mjs', /broken\.mjs cannot be loaded: .*nothing\.mjs/],
    ['./empty.mjs', /does not export `operations`/],
  ])('reports the fault of the module %s', async (module, message) => {
    await expect(loadApi(module, folder)).rejects.toMatchObject({
      code: 'COMMAND_LINE',
      message: expect.stringMatching(message),
    });
  });
});

describe.skipIf(!existsSync(command))('the command', () => {
  const run = (line: string) => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [command, ...line.split(' ')], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    return { stdout, stderr, status };
  };

  it('writes the document of the compute API at a version', () => {
    const { stdout, status } = run('openapi --version 2.26 --actions separate');
    expect(status).toBe(0);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '2.26' } });
    expect(document.paths['/servers/{id}/action#resize'].post.operationId).toBe('resizeServer');
  });

  it('prints the changes between two versions', () => {
    expect(run('changes --version 2.25 --to 2.26').stdout).toMatch(/from 2\.25 to 2\.26[\s\S]*server\\?\.tags/);
    const { from, to, changes } = JSON.parse(run('changes --version 2.25 --to 2.26 --format json').stdout);
    expect([from, to, changes.length > 0]).toEqual(['2.25', '2.26', true]);
  });

  it('writes files for any API', () => {
    expect(run('openapi --operations ./things.mjs --version 1.1 --to 1.3 --out documents')).toMatchObject({
      status: 0,
    });
    expect(readdirSync(join(folder, 'documents')).sort()).toEqual([1, 2, 3].map((n) => `openapi-1.${n}.json`));
    expect(run('types --operations ./things.mjs --out made/things.ts')).toMatchObject({ status: 0, stdout: '' });
    expect(readFileSync(join(folder, 'made', 'things.ts'), 'utf8')).toContain('export type ThingsResponse<');
  });

  it('exits with 2 and one line if a version is unknown or the range is reversed', () => {
    expect(run('openapi --operations ./things.mjs --version 2.1')).toEqual({
      stdout: '',
      stderr: '"2.1" is not a version of this API: it supports 1.0 to 1.3\n',
      status: 2,
    });
    expect(run('changes --operations ./things.mjs --version 1.2 --to 1.1')).toMatchObject({
      stderr: '--version 1.2 is greater than --to 1.1\n',
      status: 2,
    });
  });
});
