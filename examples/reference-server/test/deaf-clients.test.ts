import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { ask, startProgram } from './program.js';

const MIB = 1024 * 1024;
const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const REQUEST = 'GET /v2.1/servers/detail HTTP/1.1\r\nHost: test\r\nX-Auth-Token: ada:demo\r\n\r\n';

/** Resident memory of a process in bytes. */
function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) * 1024;
}

/** Connections that were closed because nobody read the answers. */
async function stalled(url: string): Promise<number> {
  const { body } = await ask(url, 'GET', '/metrics');
  return Number(/^apistrata_connections_stalled_total (\d+)$/m.exec(body)?.[1]);
}

const linux = process.platform === 'linux';
if (!linux)
  console.warn('*** SKIPPED: the memory of a process is read from /proc, which this system does not have ***');

it.skipIf(!linux)(
  '300 clients that never read their 5 pages cost bounded memory; others are served, they are closed',
  {
    timeout: 180_000,
  },
  async () => {
    const unlimited = ['instances', 'cores', 'ram'].flatMap((name) => ['--quota', `${name}=-1`]);
    const limits = ['--limit', 'unreadMs=3000', '--limit', `maxUnreadBytes=${64 * MIB}`];
    const args = ['--db', ':memory:', '--metrics', '--log-level', 'error', ...unlimited, ...limits];
    const program = await startProgram(args);
    onTestFinished(async () => void (await program.end('SIGKILL')));
    const metadata = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`key-${i}`, 'x'.repeat(255)]));
    const server = { name: 's', flavorRef: '1', imageRef: IMAGE, networks: 'none', metadata, min_count: 100 };
    const created = await ask(program.url, 'POST', '/v2.1/servers', { version: '2.60', body: { server } });
    expect(created.status).toBe(202);
    const page = async () => JSON.stringify((await ask(program.url, 'GET', '/v2.1/servers/detail')).body);
    const active = async () =>
      JSON.parse(await page()).servers.filter(({ status }: { readonly status: string }) => status === 'ACTIVE');
    await eventually(async () => expect(await active()).toHaveLength(100));
    const length = (await page()).length;

    const before = memoryOf(program.pid);
    for (let clients = 0; clients < 300; clients++) {
      const socket = connect(Number(new URL(program.url).port), '127.0.0.1', () => socket.write(REQUEST.repeat(5)));
      socket.pause().on('error', () => {});
      onTestFinished(() => void socket.destroy());
    }
    let most = 0;
    const lengths = new Set<number>();
    await eventually(async () => {
      lengths.add((await page()).length);
      most = Math.max(most, memoryOf(program.pid));
      // Told by the server: a system takes its time to hand on to a late reader what was sent before the end.
      expect(await stalled(program.url)).toBe(300);
    });
    // 1,500 pages were asked for; beyond what the system's buffers take, each connection may hold one.
    expect(most - before).toBeLessThan(300 * length + 200 * MIB);
    expect([...lengths]).toEqual([length]);
  },
);
