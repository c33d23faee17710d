import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
// @ts-expect-error: scripts have no types
import { writePublishedForm } from '../../../../scripts/published-form.mjs';
import { registryPackage } from '../../../../testing/registry-package.js';
import { freePort } from '../../../../testing/servers.js';

const src = join(import.meta.dirname, '../../src');
const page = readFileSync(join(import.meta.dirname, '../../../../docs/guides/frameworks.md'), 'utf8');
const PACKAGES = ['healthcheck', 'microversion', 'quota', 'request-id'];

/** Frameworks that the repository does not install: the packages that a project needs, and how it is built. */
const FRAMEWORKS = [
  {
    name: 'next',
    packages: 'next@16.4.6 react@19.3.1 react-dom@19.3.1',
    build: ['next/dist/bin/next', 'build'],
  },
  {
    name: 'react-router',
    packages: [
      ...['react-router', '@react-router/express', '@react-router/node', '@react-router/dev'].map(
        (one) => `${one}@8.4.0`,
      ),
      ...['react@19.3.1', 'react-dom@19.3.1', 'express@5.3.0', 'isbot@5', 'vite@8'],
    ].join(' '),
    build: ['@react-router/dev/bin.cjs', 'build'],
  },
];

type Framework = (typeof FRAMEWORKS)[number];

const environment = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' };

/** Creates the example as a separate project, with the published packages, and builds it. */
async function buildProject(modules: string, { name, packages, build }: Framework): Promise<string> {
  const installed = dirname(modules);
  // Bundlers resolve symbolic links and reject targets outside of the project, so the project is next to its packages.
  const project = mkdtempSync(join(installed, `${name}-`));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  cpSync(join(src, name), project, { recursive: true });
  // The build of React Router installs packages that package.json does not list.
  const dependencies = Object.fromEntries(packages.split(' ').map((one) => one.split(/(?<=.)@/)));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }));
  if (name === 'next')
    writeFileSync(
      join(project, 'next.config.mjs'),
      `export default { turbopack: { root: ${JSON.stringify(installed)} }, outputFileTracingRoot: ${JSON.stringify(installed)} };\n`,
    );
  for (const one of PACKAGES)
    await writePublishedForm(`packages/${one}`, join(project, 'node_modules/@apistrata', one));
  const [program = '', ...args] = build;
  await promisify(execFile)(process.execPath, [join(modules, program), ...args], { cwd: project, env: environment });
  return project;
}

async function startServer(project: string): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, ['server.mjs'], {
    cwd: project,
    env: { ...environment, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (log += text));
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  const health = async () => {
    if (child.exitCode !== null) throw new Error(`The server ended:\n${log}`);
    return (await fetch(`${url}/healthcheck`).catch(() => undefined))?.status;
  };
  await expect.poll(health).toBe(200);
  return url;
}

describe.each(FRAMEWORKS)('the custom server of $name', (framework) => {
  const { name, packages } = framework;

  it('is identical to the code on the page', () => {
    expect(page).toContain(`\`\`\`js\n${readFileSync(join(src, name, 'server.mjs'), 'utf8')}\`\`\``);
  });

  it('has request ids, a health endpoint, versions and a quota', { timeout: 600_000 }, async ({ skip }) => {
    const modules = await registryPackage(packages);
    if (!modules) {
      console.warn(`\n*** SKIPPED: the custom server of ${name}: the registry cannot be reached ***\n`);
      return skip();
    }
    const url = await startServer(await buildProject(modules, framework));
    const send = async (path: string, method = 'GET', headers: Record<string, string> = {}) => {
      const response = await fetch(url + path, { method, headers: { 'X-Account': 'acme', ...headers } });
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    const create = () => send('/notes', 'POST', { 'X-Request-Id': 'order-4711' });

    const home = await send('/', 'GET', { 'X-Request-Id': 'order-4712' });
    expect([home.headers.get('x-request-id'), /<p>(.*?)<\/p>/.exec(home.text)?.[1]]).toEqual([
      'order-4712',
      'order-4712',
    ]);
    const created = await create();
    expect([created.status, JSON.parse(created.text)]).toEqual([201, { id: '1', by: 'order-4711' }]);
    const old = await send('/notes');
    expect([old.text, old.headers.get('api-version')]).toEqual(['["1"]', '2025-03-01']);
    const current = await send('/notes', 'GET', { 'API-Version': '2026-11-22' });
    expect(JSON.parse(current.text)).toEqual({ notes: [{ id: '1', by: 'order-4711' }] });
    expect((await send('/notes', 'GET', { 'API-Version': '2020-01-01' })).status).toBe(406);
    expect((await create()).status).toBe(201);
    const rejected = await create();
    expect([rejected.status, rejected.headers.get('content-type')]).toEqual([403, 'application/problem+json']);
  });
});
