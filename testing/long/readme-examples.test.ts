import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { writePublishedForm } from '../../scripts/published-form.mjs';
import { linkPackage } from '../packed-packages.js';
// @ts-expect-error: scripts have no types
import { packagesOfReadme } from '../release/projects.mjs';
// @ts-expect-error: scripts have no types
import { uses } from '../release/uses.mjs';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'apistrata-readmes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NAMES = ['microversion', 'microversion-router', 'request-id', 'healthcheck', 'quota'];

const readmeOf = (name: string) => readFileSync(join(root, 'packages', name, 'README.md'), 'utf8');

/** The first example of a README in a language. */
const exampleOf = (name: string, language: 'ts' | 'js') =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readmeOf(name))?.[1] ?? '';

/** Installs a package of this repository into a project, in the form in which it is published. */
async function installOwn(name: string, project: string): Promise<void> {
  const target = join(project, 'node_modules/@apistrata', name);
  await writePublishedForm(`packages/${name}`, target);
  const { dependencies = {} } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
  for (const needed of Object.keys(dependencies).filter((other) => !other.startsWith('@apistrata/')))
    linkPackage(needed, join(root, 'packages', name), target);
}

/** A test that starts the example of a package and sends a request. */
function testOf(name: string, load: string): string {
  const { path, headers = {} } = uses[name].readme;
  return `process.env.PORT = '0';
test('the example of ${name} responds', async () => {
  const { server } = ${load};
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  const all = { connection: 'close', ...${JSON.stringify(headers)} };
  const response = await fetch('http://127.0.0.1:' + server.address().port + '${path}', { headers: all });
  expect(response.status).toBe(200);
  await new Promise((resolve) => server.close(resolve));
});
`;
}

/** Runs a program in the folder without the variables that Vitest sets for its own processes; returns its output. */
function run(program: string, ...args: readonly string[]): string {
  const { NODE_OPTIONS: _, NODE_ENV: __, VITEST: ___, ...env } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: folder, env, encoding: 'utf8' });
  return stdout + stderr;
}

beforeAll(async () => {
  for (const name of NAMES) {
    for (const word of packagesOfReadme(readmeOf(name))) {
      if (word.startsWith('@apistrata/')) await installOwn(word.slice('@apistrata/'.length), join(folder, name));
      else linkPackage(word, root, join(folder, name));
    }
  }
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
}, 120_000);

it('the first examples of the READMEs run with the packages that they install, in Jest, in CommonJS without options', () => {
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true };
  for (const name of NAMES) {
    const { outputText } = ts.transpileModule(exampleOf(name, 'ts'), { compilerOptions });
    writeFileSync(join(folder, name, 'example.js'), outputText);
    writeFileSync(join(folder, name, 'readme.test.js'), testOf(name, "require('./example.js')"));
  }
  const output = run(join(root, 'node_modules/jest/bin/jest.js'), '--ci');
  expect(output).toContain(`${NAMES.length} passed, ${NAMES.length} total`);
});

/** Whether the first JavaScript example is an app in CommonJS. That of microversion is run with its Jest test. */
const hasCommonJs = (name: string) => /^const .*require\('@apistrata\//.test(exampleOf(name, 'js'));

/** Loads an example, and finds its server, which need not be exported. */
const loadServer = (file: string) => `(() => {
    const { Server } = require('node:net');
    const { listen } = Server.prototype;
    let server;
    Server.prototype.listen = function (...args) {
      server = this;
      return listen.apply(this, args);
    };
    require('./${file}');
    Server.prototype.listen = listen;
    return { server };
  })()`;

it('the CommonJS examples of the READMEs are tested with Jest, as they are', () => {
  const names = NAMES.filter(hasCommonJs);
  expect(names).toEqual(['request-id', 'healthcheck', 'quota']);
  for (const name of names) {
    writeFileSync(join(folder, name, 'commonjs.js'), exampleOf(name, 'js'));
    writeFileSync(join(folder, name, 'commonjs.test.js'), testOf(name, loadServer('commonjs.js')));
  }
  const output = run(join(root, 'node_modules/jest/bin/jest.js'), '--ci', '--testPathPatterns', 'commonjs');
  expect(output).toContain(`${names.length} passed, ${names.length} total`);
});

it('the first examples of the READMEs run with the packages that they install, in Vitest', () => {
  for (const name of NAMES) {
    writeFileSync(join(folder, name, 'example.ts'), exampleOf(name, 'ts'));
    const head = "import { expect, test } from 'vitest';\n";
    writeFileSync(join(folder, name, 'readme.spec.ts'), head + testOf(name, "await import('./example.ts')"));
  }
  linkPackage('vitest', root, folder);
  const output = run(join(root, 'node_modules/vitest/vitest.mjs'), 'run', '.spec.ts', '--no-color');
  expect(output).toMatch(new RegExp(`Tests +${NAMES.length} passed \\(${NAMES.length}\\)`));
});
