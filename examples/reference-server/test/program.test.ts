import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findProgram } from '../../../testing/servers.js';
import { type Program, runProgram, sendRequest, startProgram } from './program.js';

const hasDemoPrograms = findProgram('curl') && findProgram('bash');
if (!hasDemoPrograms) console.warn('\n*** SKIPPED: the demo of the README: this machine has no curl, or no bash ***\n');

const folder = mkdtempSync(join(tmpdir(), 'apistrata-program-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the reference server', () => {
  let program: Program;
  beforeAll(async () => {
    program = await startProgram(['--db', ':memory:', '--log-level', 'info']);
  });
  afterAll(async () => {
    await program.end('SIGTERM');
  });

  it('serves versions, key pairs at 2.1 and 2.2, OpenAPI and health', async () => {
    expect((await sendRequest(program.url, 'GET', '/')).body.versions).toHaveLength(2);
    const keypair = (name: string, version: string) =>
      sendRequest(program.url, 'POST', '/v2.1/os-keypairs', { version, body: { keypair: { name } } });
    expect((await keypair('one', '2.1')).status).toBe(200);
    expect((await keypair('two', '2.2')).status).toBe(201);
    expect((await sendRequest(program.url, 'GET', '/openapi.json?version=2.53')).body.info.version).toBe('2.53');
    expect((await sendRequest(program.url, 'GET', '/openapi.json?version=nonsense')).status).toBe(400);
    expect((await sendRequest(program.url, 'GET', '/healthcheck')).status).toBe(200);
    expect((await fetch(`${program.url}/v2.1/flavors`)).status).toBe(401);
  });

  it('logs how it reads lists of servers at the debug level', async () => {
    const open = await startProgram(['--db', ':memory:', '--log-level', 'debug']);
    try {
      const { headers } = await sendRequest(open.url, 'GET', '/v2.1/servers?sort_key=hostname&sort_dir=asc');
      const requestId = headers.get('x-openstack-request-id');
      await expect
        .poll(() => open.output())
        .toContain(`"requestId":"${requestId}","ofProject":true,"source":"rows","order":"memory"`);
    } finally {
      await open.end('SIGTERM');
    }
  });

  it('allows pages of configured origins, and no others', async () => {
    const origin = 'https://console.example.org';
    const open = await startProgram(['--db', ':memory:', '--cors-origin', origin]);
    const preflight = async (url: string, from: string) => {
      const headers = { Origin: from, 'Access-Control-Request-Method': 'DELETE' };
      const result = await fetch(`${url}/v2.1/servers/1`, { method: 'OPTIONS', headers });
      return [result.status, result.headers.get('access-control-allow-origin')];
    };
    try {
      expect(await preflight(open.url, origin)).toEqual([204, origin]);
      expect((await preflight(open.url, 'https://evil.example'))[1]).toBeNull();
      expect((await preflight(program.url, origin))[1]).toBeNull();
    } finally {
      await open.end('SIGTERM');
    }
  });

  it('trusts only the configured proxies', async () => {
    const behind = await startProgram(['--db', ':memory:', '--trust-proxy', 'loopback', '--log-level', 'silent']);
    const headers = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'compute.example.org' };
    const self = async (url: string) =>
      ((await (await fetch(`${url}/v2.1/`, { headers })).json()) as any).version.links[0].href;
    try {
      expect(await self(behind.url)).toBe('https://compute.example.org/v2.1/');
      expect(await self(program.url)).toBe(`${program.url}/v2.1/`);
    } finally {
      await behind.end('SIGTERM');
    }
    const { code, output } = await runProgram(['--db', ':memory:', '--port', '0', '--trust-proxy', 'my proxy']);
    expect([code, output]).toEqual([1, expect.stringMatching(/^--trust-proxy: .*my proxy.*; it accepts loopback/)]);
  });

  it.skipIf(!hasDemoPrograms)('runs the demo of the README', () => {
    const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
    const demo = /<!-- demo -->\s*```sh\n([\s\S]*?)```/.exec(readme)?.[1];
    expect(demo).toBeDefined();
    const script = demo!.replaceAll('http://127.0.0.1:8774', program.url);
    const output = execFileSync('bash', ['-euo', 'pipefail', '-c', script], { encoding: 'utf8' });
    expect(output).toContain('ACTIVE');
    expect(output).toContain('SHUTOFF');
  });

  it('writes no secret to its log', async () => {
    const token = 'ada:demo:member';
    const { status, headers } = await sendRequest(program.url, 'POST', '/v2.1/servers', {
      token,
      version: '2.37',
      body: {
        server: {
          name: 's',
          adminPass: 'hunter2-secret',
          user_data: 'c2VjcmV0',
          flavorRef: '1',
          imageRef: '70a599e0-31e7-49b7-b260-868f441e862b',
          networks: 'none',
        },
      },
    });
    expect(status).toBe(202);
    await program.printed(new RegExp(`"${headers.get('x-openstack-request-id')}".*"url":"/v2\\.1/servers"`));
    for (const secret of [token, 'hunter2-secret', 'c2VjcmV0', 'PRIVATE KEY'])
      expect(program.output()).not.toContain(secret);
  });
});

describe('starting and stopping', () => {
  it('prints the help and the built-in preset', async () => {
    expect((await runProgram(['--help'])).output).toMatch(/--latency-ms N\s+duration of each command/);
    expect(JSON.parse((await runProgram(['--print-preset-schema'])).output)).toMatchObject({
      properties: { flavors: { type: 'array' } },
    });
    const { output } = await runProgram(['--print-preset']);
    const file = join(folder, 'preset.json');
    writeFileSync(file, output);
    const program = await startProgram(['--db', ':memory:', '--preset', file, '--log-level', 'silent']);
    expect((await sendRequest(program.url, 'GET', '/v2.1/flavors')).body.flavors.map((f: any) => f.id)).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
    ]);
    expect(await program.end('SIGTERM')).toBe(0);
  });

  it('reads options from the environment too', async () => {
    const program = await startProgram(['--db', ':memory:'], {
      APISTRATA_LOG_LEVEL: 'silent',
      APISTRATA_HEADERS: 'service',
    });
    const { headers } = await sendRequest(program.url, 'GET', '/v2.1/flavors');
    expect(headers.get('service-api-version')).toBe('compute 2.1');
    expect(headers.has('openstack-api-version')).toBe(false);
    expect(await program.end('SIGTERM')).toBe(0);
  });

  it('completes requests in flight before it exits', async () => {
    const program = await startProgram(['--db', ':memory:']);
    const headers = { 'X-Auth-Token': 'ada:demo', 'Content-Type': 'application/json', Expect: '100-continue' };
    const slow = request(`${program.url}/v2.1/os-keypairs`, { method: 'POST', headers });
    const responded = once(slow, 'response') as Promise<[IncomingMessage]>;
    slow.flushHeaders();
    await once(slow, 'continue');
    const code = program.end('SIGTERM');
    await program.printed(/a second signal stops the process immediately/);
    slow.end(JSON.stringify({ keypair: { name: 'slow' } }));
    const [answer] = await responded;
    expect(answer.statusCode).toBe(200);
    answer.resume();
    expect(await code).toBe(0);
  });

  it.each([
    [['--port', 'x'], /--port must be an integer .*"x"/],
    [['--prot', '1'], /--prot/],
    [['--headers', 'mine'], /service, openstack, both/],
    [['--max-version', '2.999'], /2\.999/],
    [
      ['--db', 'postgres://nobody:secret@127.0.0.1:1/none'],
      /--db postgres:\/\/nobody:\*\*\*@127\.0\.0\.1:1\/none cannot be used/,
    ],
    [['--db', ':memory:', '--preset', '/does/not/exist.json'], /--preset \/does\/not\/exist\.json/],
    [['--setting', 'nonsense=1'], /--setting: unknown name "nonsense"/],
    [['--healthcheck', 'detailled=true'], /detailled/],
  ])('rejects %j with one line', async (args, message) => {
    const { code, output } = await runProgram(['--log-level', 'silent', '--port', '0', ...args]);
    expect(code).toBe(1);
    expect(output).toMatch(message);
    expect(output.trim().split('\n')).toHaveLength(1);
    expect(output).not.toContain('secret');
  });

  it('names the path of the invalid value in a preset', async () => {
    const file = join(folder, 'bad.json');
    writeFileSync(file, JSON.stringify({ hosts: [{ name: 'h', vcpus: 0, memoryMb: 1, diskGb: 1 }] }));
    const { code, output } = await runProgram(['--db', ':memory:', '--preset', file]);
    expect([code, output]).toEqual([1, expect.stringContaining('hosts.0.vcpus')]);
  });

  it('reports a Node that is too old before it loads code that needs a newer one', async () => {
    const old = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } })";
    const { code, output } = await runProgram([], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(old)}`,
    });
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/^Node 18\.20\.4 is too old: .* 22\.16 or newer\. Install/),
    ]);
  });

  it('reports a file that is not a database, a path that cannot exist, and a database that is in use', async () => {
    const textFile = join(folder, 'text.db');
    writeFileSync(textFile, 'this is a letter to my grandmother'.repeat(100));
    expect((await runProgram(['--db', textFile, '--port', '0'])).output).toMatch(/^--db \S+text\.db cannot be used: /);
    expect((await runProgram(['--db', join(textFile, 'cloud.db')])).output).toMatch(
      /^--db \S+ cannot be used: \S+ is not a folder: choose/,
    );
    const file = join(folder, 'taken.db');
    const first = await startProgram(['--db', file, '--log-level', 'silent']);
    const second = await runProgram(['--db', file, '--port', '0']);
    expect([second.code, second.output]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^--db \\S+taken.db .*${first.pid}`)),
    ]);
    expect(await first.end('SIGTERM')).toBe(0);
  });

  it('reports a read-only folder of its database', async (context) => {
    const readOnly = join(folder, 'read-only');
    mkdirSync(readOnly, { mode: 0o555 });
    // Permissions do not apply to root, but a read-only file system does.
    const isRoot = process.getuid?.() === 0;
    if (isRoot && spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'none', readOnly]).status !== 0) {
      console.warn('*** SKIPPED: a read-only folder for root needs permission to mount a file system ***');
      return context.skip();
    }
    onTestFinished(() => void (isRoot && spawnSync('umount', [readOnly])));
    const { code, output } = await runProgram(['--db', join(readOnly, 'cloud.db')]);
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/^--db \S+ cannot be used: \S+ (is not writable|is on a read-only file system): give/),
    ]);
  });

  it('sends a page with next steps to browsers, and the version documents to clients', async () => {
    const program = await startProgram(['--db', ':memory:', '--log-level', 'silent']);
    await program.printed(/Try +curl .*\/v2\.1\/flavors/);
    const get = async (accept?: string) => {
      const response = await fetch(`${program.url}/`, { headers: accept ? { accept } : {} });
      return {
        type: response.headers.get('content-type'),
        text: await response.text(),
        vary: response.headers.get('vary'),
      };
    };
    const page = await get('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8');
    expect(page).toMatchObject({ type: 'text/html; charset=utf-8', vary: 'Accept' });
    // The page highlights the command.
    const shown = page.text.replace(/<[^>]*>/g, '').replaceAll('&#39;', "'");
    expect(shown).toContain(`curl -H 'X-Auth-Token: ada:demo' ${program.url}/v2.1/flavors`);
    const plain = await get();
    expect(JSON.parse(plain.text).versions).toHaveLength(2);
    expect(await get('application/json')).toEqual(plain);
    expect(await get('*/*')).toEqual(plain);
    const icon = await fetch(`${program.url}/favicon.ico`);
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
    expect(await program.end('SIGTERM')).toBe(0);
  });

  it('reports a port that is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const { code, output } = await runProgram(['--db', ':memory:', '--port', String(port), '--log-level', 'silent']);
    expect([code, output.trim()]).toEqual([
      1,
      `port ${port} of 127.0.0.1 is in use: stop the other program, or choose another port with --port`,
    ]);
    other.close();
  });
});
