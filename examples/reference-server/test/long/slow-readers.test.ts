import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { sendRequest, startProgram } from '../program.js';

const MIB = 1024 * 1024;
const CLIENTS = 100;
/** The number of requests per client. Their responses total about 10 MB; the system buffers less than 5 MB. */
const PAGES = 10;
const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const REQUEST = 'GET /v2.1/servers/detail HTTP/1.1\r\nHost: localhost\r\nX-Auth-Token: ada:demo\r\n\r\n';

/** Returns the resident memory of a process, in bytes. */
function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) * 1024;
}

/** Returns the number of connections that were closed because the client did not read the responses. */
async function stalled(url: string): Promise<number> {
  const { body } = await sendRequest(url, 'GET', '/metrics');
  return Number(/^apistrata_connections_stalled_total (\d+)$/m.exec(body)?.[1]);
}

const linux = process.platform === 'linux';
if (!linux)
  console.warn('*** SKIPPED: the memory of a process is read from /proc, which this system does not have ***');

it.skipIf(!linux)(
  `${CLIENTS} clients that never read their ${PAGES} pages use bounded memory and are disconnected, while others are served`,
  {
    timeout: 300_000,
  },
  async () => {
    const unlimited = ['instances', 'cores', 'ram'].flatMap((name) => ['--quota', `${name}=-1`]);
    const limits = ['--limit', 'unreadMs=3000', '--limit', `maxUnreadBytes=${64 * MIB}`];
    const args = ['--db', ':memory:', '--metrics', '--log-level', 'error', ...unlimited, ...limits];
    const program = await startProgram(args);
    onTestFinished(async () => void (await program.end('SIGKILL')));
    const metadata = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`key-${i}`, 'x'.repeat(255)]));
    const server = { name: 's', flavorRef: '1', imageRef: IMAGE, networks: 'none', metadata, min_count: 100 };
    const created = await sendRequest(program.url, 'POST', '/v2.1/servers', { version: '2.60', body: { server } });
    expect(created.status).toBe(202);
    const page = async () => JSON.stringify((await sendRequest(program.url, 'GET', '/v2.1/servers/detail')).body);
    const active = async () =>
      JSON.parse(await page()).servers.filter(({ status }: { readonly status: string }) => status === 'ACTIVE');
    await eventually(async () => expect(await active()).toHaveLength(100));
    const length = (await page()).length;

    const before = memoryOf(program.pid);
    for (let clients = 0; clients < CLIENTS; clients++) {
      const socket = connect(Number(new URL(program.url).port), '127.0.0.1', () => socket.write(REQUEST.repeat(PAGES)));
      socket.pause().on('error', () => {});
      onTestFinished(() => void socket.destroy());
    }
    let max = 0;
    const lengths = new Set<number>();
    await eventually(
      async () => {
        lengths.add((await page()).length);
        max = Math.max(max, memoryOf(program.pid));
        // The server's counter is used, because a client that reads late still receives data that was sent earlier.
        expect(await stalled(program.url)).toBe(CLIENTS);
      },
      // Before the disconnections, the server creates hundreds of pages of 1 MB.
      { timeout: 240_000 },
    );
    // In addition to the system's buffers, each connection may buffer one page.
    expect(max - before).toBeLessThan(CLIENTS * length + 200 * MIB);
    expect(length).toBeGreaterThan(0.8 * MIB);
    expect([...lengths]).toEqual([length]);
  },
);
