import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { DEMO_PASSWORD } from '../src/identity/demo-directory.js';

const BROWSER_SCRIPTS = join(import.meta.dirname, '../src/page/browser');
const JSON_BODY = { 'Content-Type': 'application/json' };

const LOGIN = {
  auth: {
    identity: {
      methods: ['password'],
      password: { user: { name: 'admin', password: DEMO_PASSWORD, domain: { id: 'default' } } },
    },
    scope: { project: { name: 'demo', domain: { id: 'default' } } },
  },
};

/**
 * Requests everything that the cloud loads only after its start: pages, their style sheets and scripts, and
 * certificates.
 */
async function expectAllParts(origin: string): Promise<void> {
  const get = (path: string) => fetch(origin + path);
  const text = async (path: string) => (await get(path)).text();
  expect(await text('/docs/operations/showServer?version=2.53')).toContain('Shows a server with details');
  const links = [...(await text('/docs')).matchAll(/(?:href|src)="([^"]*\.(?:css|js|svg)(?:\?[^"]*)?)"/g)];
  expect(links.length).toBeGreaterThan(1);
  for (const [, link = ''] of links)
    expect((await get(new URL(link, `${origin}/docs`).pathname)).status, link).toBe(200);
  const scripts = readdirSync(BROWSER_SCRIPTS).filter((name) => name.endsWith('.js'));
  expect(scripts.length).toBeGreaterThan(5);
  for (const name of scripts) expect((await get(`/_page/${name}`)).status, name).toBe(200);

  const post = (path: string, headers: Record<string, string>, body: unknown) =>
    fetch(origin + path, { method: 'POST', headers: { ...JSON_BODY, ...headers }, body: JSON.stringify(body) });
  const token = (await post('/identity/v3/auth/tokens', {}, LOGIN)).headers.get('x-subject-token') ?? '';
  const version = { 'X-Auth-Token': token, 'OpenStack-API-Version': 'compute 2.53' };
  const created = await post('/compute/v2.1/os-keypairs', version, { keypair: { name: 'k', type: 'x509' } });
  expect(await created.json()).toMatchObject({ keypair: { public_key: expect.stringContaining('BEGIN CERTIFICATE') } });
}

/** Starts the test cloud in one of its published forms, and checks that no part is missing. */
export async function expectWholeProgram(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const child = spawn(program, [...args, '--port', '0', '--quiet'], { stdio: ['ignore', 'pipe', 'inherit'], env });
  try {
    let printed = '';
    for await (const line of createInterface({ input: child.stdout })) {
      printed = line;
      if (line.includes('OS_AUTH_URL=')) break;
    }
    const [, port] = /OS_AUTH_URL=http:\/\/[^/]*:(\d+)\//.exec(printed) ?? [];
    expect(port, printed).toBeDefined();
    await expectAllParts(`http://127.0.0.1:${port}`);
  } finally {
    child.kill('SIGKILL');
  }
}
