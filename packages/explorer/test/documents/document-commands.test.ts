import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { requestByHost } from '../../../../testing/request-by-host.js';
import { parseCommandLine } from '../../src/cli/command.js';
import { readDocumentedApi, readPageOptions } from '../../src/cli/page-options.js';
import { library, libraryWith, secondLibrary } from './libraries.js';

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
if (!existsSync(program)) console.warn('\n*** SKIPPED: commands for documents: the packages are not built ***\n');

let folder: string;
const file = (name: string) => join(folder, name);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'explorer-documents-'));
  writeFileSync(file('a.json'), JSON.stringify(library));
  writeFileSync(file('b.yaml'), stringify(secondLibrary, { aliasDuplicateObjects: false }));
  writeFileSync(file('other.json'), JSON.stringify(libraryWith('1.0.0', (d) => delete d.paths['/v1/books/{id}'])));
  writeFileSync(file('broken.json'), '{ "openapi": ');
  writeFileSync(file('logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  mkdirSync(file('parts'));
  const split = libraryWith('1.2.0', (document) => {
    document.components.schemas.Book = { $ref: 'parts/book.yaml#/Book' };
    document.paths['/v1/loans'] = { $ref: './parts/loans.yaml' };
  });
  writeFileSync(file('split.json'), JSON.stringify(split));
  const { Book } = library.components.schemas;
  const referring = JSON.stringify(Book).replaceAll('#/components', '../split.json#/components');
  writeFileSync(file('parts/book.yaml'), `Book: ${referring}\n`);
  writeFileSync(file('parts/loans.yaml'), stringify(library.paths['/v1/loans']));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('arguments of the command line', () => {
  it('may be JSON or YAML documents, with references to other files', async () => {
    const { operations, versions } = await readDocumentedApi(['a.json', 'b.yaml', 'split.json'].map(file));
    expect(versions?.map(String)).toEqual(['1.0.0', '1.1.0', '1.2.0']);
    expect(operations.map(({ path }) => path)).toContain('/v1/loans');
    const named = await readDocumentedApi([`2026-01-31=${file('split.json')}`, `2025-01-31=${file('a.json')}`]);
    expect(named.versions?.map(String)).toEqual(['2025-01-31', '2026-01-31']);
  });

  it.each([
    ['none.json', /The file .*none\.json does not exist/],
    ['broken.json', /broken\.json is not valid JSON or YAML/],
    ['x=a.json', /"x" is not a version: write VERSION=/],
  ])('are rejected with a one-line message: %s', async (name, message) => {
    const path = name.includes('=') ? name.replace('=', `=${folder}/`) : file(name);
    await expect(readDocumentedApi([path])).rejects.toMatchObject({
      code: 'OPENAPI_DOCUMENT',
      message: expect.stringMatching(message),
    });
  });

  it('set the appearance of pages', async () => {
    const line = [
      'serve',
      file('a.json'),
      '--title',
      'Mine',
      '--color',
      'accent=#00f/#99f',
      '--logo',
      file('logo.svg'),
    ];
    const command = parseCommandLine([...line, '--footer', 'The end', '--server', 'https://x.example']);
    expect(command && (await readPageOptions(command))).toMatchObject({
      title: 'Mine',
      server: 'https://x.example',
      colors: { accent: { light: '#00f', dark: '#99f' } },
      logo: { type: 'image/svg+xml' },
      texts: { footer: 'The end' },
    });
  });

  it.each([
    ['serve a.json --color accent', /--color must be NAME=COLOR/],
    ['serve a.json --color accents=red', /--color: unknown color "accents" \(known colors: ground,/],
    ['serve a.json --color accent=url(x)', /--color: "url\(x\)" is not a color/],
    ['serve a.json --logo logo.gif', /--logo must be a file with one of the extensions svg, png, jpg, webp/],
    ['serve a.json --port 70000', /--port must be a number from 0 to 65535/],
    ['serve a.json --operations ./api.js', /either OpenAPI documents or --operations/],
    ['check b.json', /requires the published document: --against main\.json/],
    ['check --against a.json b.json c.json', /"c\.json": "check" accepts one document/],
    ['changes a.json', /at least two OpenAPI documents/],
  ])('are rejected: "%s"', async (line, message) => {
    const run = async () => {
      const command = parseCommandLine(line.split(' ').map((word) => (word === 'a.json' ? file(word) : word)));
      if (command) await readPageOptions(command);
    };
    await expect(run()).rejects.toMatchObject({ code: 'COMMAND_LINE', message: expect.stringMatching(message) });
  });
});

describe.skipIf(!existsSync(program))('the commands for documents', () => {
  const run = (line: string) => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...line.split(' ')], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { stdout, stderr, status };
  };

  it('check: exits with 1 for an incompatible change, and with 0 otherwise', () => {
    expect(run('check --against a.json other.json')).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('DELETE /v1/books/{id} (Remove a book)\n  - removed'),
    });
    expect(run('check --against a.json a.json')).toMatchObject({ status: 0, stderr: '' });
    const { passed, breaking, changes } = JSON.parse(run('check --against a.json other.json --format json').stdout);
    expect([passed, breaking, changes.length]).toEqual([false, 2, 2]);
    expect(run('check --against a.json other.json --format github').stdout).toMatch(/^::error file=other\.json,/);
  });

  it('check: accepts documents under versions other than their own', () => {
    expect(run('check --against a.json 9.0.0=other.json')).toMatchObject({ status: 0, stderr: '' });
    const { from, to } = JSON.parse(run('check --against 3.0.0=a.json 3.0.0=other.json --format json').stdout);
    expect([from, to]).toEqual(['3.0.0', '3.0.0']);
    expect(run('check --against 3.0.0=a.json 3.0.0=other.json').status).toBe(1);
    expect(run('check --against a.json 9.0.0=missing.json')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('missing.json'),
    });
  });

  it('check: adds the entry of the changelog', () => {
    run('check --against a.json other.json --changelog CHANGES.md');
    expect(readFileSync(file('CHANGES.md'), 'utf8')).toMatch(/^# Changelog\n\n## Unreleased\n\n### Breaking changes\n/);
  });

  it('check: compares the operations of a module at the version of the document', () => {
    const operation = (status: number) =>
      `export const operations = [{ method: 'GET', path: '/things', summary: 'List things', status: ${status}, run() {} }];
      export const description = { title: 'Things' };
      export const versions = ['1.0', '1.1'];`;
    writeFileSync(file('things.mjs'), operation(200));
    writeFileSync(file('changed.mjs'), operation(202));
    expect(run('openapi --operations ./things.mjs --version 1.0 --out things.json').status).toBe(0);
    expect(run('check --against things.json --operations ./things.mjs').status).toBe(0);
    expect(run('check --against things.json --operations ./changed.mjs')).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('the status 200 removed: is no longer returned'),
    });
  });

  it('changes: compares documents', () => {
    expect(run('changes a.json b.yaml').stdout).toContain('# Library: from 1.0.0 to 1.1.0');
    expect(run('changes a.json b.yaml --to 3.0.0')).toEqual({
      status: 2,
      stdout: '',
      stderr: 'No document has the version 3.0.0: the versions are 1.0.0, 1.1.0\n',
    });
  });

  it('serve: serves the pages until it is interrupted', async () => {
    const server = spawn(
      process.execPath,
      [program, 'serve', 'a.json', 'b.yaml', '--port', '0', '--logo', 'logo.svg', '--allowed-host', 'Docs.example'],
      {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const [url] = await once(server.stdout.setEncoding('utf8'), 'data');
    const page = await (await fetch(String(url).trim())).text();
    expect(page).toContain('<h1>Library 1.1.0</h1>');
    expect(page).toContain('src="/assets/logo.svg"');
    const logo = await fetch(new URL('/assets/logo.svg', String(url).trim()));
    const elsewhere = await requestByHost(String(url).trim(), 'evil.example');
    expect(elsewhere).toEqual({ status: 421, body: expect.stringContaining('allow the name with --allowed-host') });
    expect((await requestByHost(String(url).trim(), 'docs.example:80')).status).toBe(200);
    expect([logo.headers.get('content-type'), await logo.text()]).toEqual([
      'image/svg+xml',
      '<svg xmlns="http://www.w3.org/2000/svg"/>',
    ]);
    server.kill('SIGTERM');
    expect(await once(server, 'exit')).toEqual([0, null]);
  });
});
