import { existsSync } from 'node:fs';
import { connect, createServer, type Server as Listener, type Socket } from 'node:net';
import type { Server } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { missingForGuests } from './guest/build-guest.js';
import { processesOf } from './processes-of.js';
import { admin, BOOT, QemuHosts } from './qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing)
  console.warn(`\n*** SKIPPED: moves of virtual machines that are cut off: this machine has no ${missing} ***\n`);

const SLOW = { moveMibPerSecond: 4 };

/** Stands between a host and those who ask it, at the same port of another address, until it is cut. */
class Wire {
  readonly #open = new Set<Socket>();
  readonly #server: Listener;

  private constructor(server: Listener) {
    this.#server = server;
  }

  static async open(from: string, to: string): Promise<Wire> {
    const server = createServer();
    const wire = new Wire(server);
    server.on('connection', (near) => {
      const far = connect((server.address() as { port: number }).port, to);
      for (const [one, another] of [
        [near, far],
        [far, near],
      ] as const) {
        wire.#open.add(one);
        one
          .on('error', () => another.destroy())
          // What came before the end still goes on.
          .on('close', () => wire.#open.delete(one))
          .pipe(another);
      }
    });
    await new Promise<void>((resolve) => server.listen(0, from, resolve));
    return wire;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }
}

describe.skipIf(missing)('live migrations of two virtual machines at once', { timeout: 300_000 }, () => {
  let hosts: QemuHosts;
  let wire: Wire;
  let ids: readonly string[];

  beforeAll(async () => {
    hosts = await QemuHosts.open(postgresUrl);
    wire = await Wire.open('127.0.0.1', '127.0.0.2');
    await hosts.start('h1', SLOW);
    await hosts.start('h2', { ...SLOW, link: { listen: '127.0.0.2', port: wire.port } });
    ids = (await Promise.all([hosts.booted('h1'), hosts.booted('h1')])).map(({ id }) => id);
  }, 300_000);

  afterAll(async () => {
    wire?.close();
    await hosts?.close();
  }, 60_000);

  const both = <T>(look: (id: string) => Promise<T>) => Promise.all(ids.map(look));
  const migrate = (host: string) =>
    both((id) => hosts.engine.servers.act(admin, id, 'os-migrateLive', { host, checkedFirst: true }));
  const last = async (serverId: string) =>
    (await hosts.engine.migrations.list({ serverId, newestFirst: true, limit: 1 }))[0]!;

  /** Once the memory of both is on its way. */
  const underWay = () =>
    eventually(async () => {
      for (const { status, memoryProcessedBytes } of await both(last)) {
        expect(status).toBe('running');
        expect(memoryProcessedBytes).toBeGreaterThan(2 ** 20);
      }
    }, BOOT);

  /** Once nothing is being done any more: both are on that host alone, and have missed nothing. */
  async function goOn(here: string, there: string, status: string): Promise<void> {
    await eventually(async () => {
      for (const server of await both((id) => hosts.see(id)))
        expect(server).toMatchObject({ jobId: null, vmState: 'active', powerState: 1, host: here });
      expect((await both(last)).map((migration) => migration.status)).toEqual([status, status]);
      for (const id of ids) {
        expect(existsSync(hosts.folder(there, id))).toBe(false);
        expect([here, there].map((host) => processesOf(hosts.folder(host, id)).length)).toEqual([1, 0]);
      }
    }, BOOT);
    await both(async (id) => {
      await (await hosts.line(id)).count();
      const numbers = await counted(await hosts.see(id));
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    });
  }

  /** All numbers that a guest has counted, as its console has them. */
  const counted = async (server: Server) =>
    [...(await hosts.console(server)).matchAll(/^COUNT (\d+)\r?$/gm)].map(([, number]) => Number(number));

  it('leave them where they are when their own host program is killed', async () => {
    await migrate('h2');
    await underWay();
    await hosts.kill('h1');
    await hosts.start('h1', SLOW);
    await goOn('h1', 'h2', 'failed');
  });

  it('leave them where they are when the connection is cut', async () => {
    await migrate('h2');
    await underWay();
    wire.cut();
    await goOn('h1', 'h2', 'failed');
  });

  it('bring both to the other host after that', async () => {
    await migrate('h2');
    await goOn('h2', 'h1', 'completed');
  });

  it('leave them where they are when the program of the other host is killed, and bring them back after that', async () => {
    await migrate('h1');
    await underWay();
    await hosts.kill('h1');
    await hosts.start('h1', SLOW);
    await goOn('h2', 'h1', 'failed');
    await migrate('h1');
    await goOn('h1', 'h2', 'completed');
  });
});
