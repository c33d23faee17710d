import { existsSync } from 'node:fs';
import { connect, createServer, type Server as Listener, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { admin, BOOT, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: interrupted moves of virtual machines: this machine has no ${missing} ***\n`);

const SLOW = { moveMibPerSecond: 4 };

/** A proxy between a host and its clients, on the same port of another address. `cut()` breaks all connections. */
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
      const remote = connect((server.address() as { port: number }).port, to);
      for (const [one, another] of [
        [near, remote],
        [remote, near],
      ] as const) {
        wire.#open.add(one);
        one
          .on('error', () => another.destroy())
          // Data that was received before the connection ended is still forwarded.
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

describe.skipIf(missing)('two concurrent live migrations', { timeout: 300_000 }, () => {
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

  /** Waits until the memory of both machines is being transferred. */
  const inProgress = () =>
    eventually(async () => {
      for (const { status, memoryProcessedBytes } of await both(last)) {
        expect(status).toBe('running');
        expect(memoryProcessedBytes).toBeGreaterThan(2 ** 20);
      }
    }, BOOT);

  /**
   * Waits until all jobs have ended, and checks that both machines run only on the given host and have lost no data.
   */
  async function proceed(here: string, there: string, status: string): Promise<void> {
    await eventually(async () => {
      for (const server of await both((id) => hosts.see(id)))
        expect(server).toMatchObject({ jobId: null, vmState: 'active', powerState: 1, host: here });
      expect((await both(last)).map((migration) => migration.status)).toEqual([status, status]);
      for (const id of ids) {
        expect(existsSync(hosts.folder(there, id))).toBe(false);
        expect([here, there].map((host) => processesOf(hosts.folder(host, id)).length)).toEqual([1, 0]);
      }
    }, BOOT);
    await both(async (id) => hosts.checkCounted(id, await (await hosts.line(id)).count()));
  }

  it('leave the machines in place when the source host process is killed', async () => {
    await migrate('h2');
    await inProgress();
    await hosts.kill('h1');
    await hosts.start('h1', SLOW);
    await proceed('h1', 'h2', 'failed');
  });

  it('leave the machines in place when the connection breaks', async () => {
    await migrate('h2');
    await inProgress();
    wire.cut();
    await proceed('h1', 'h2', 'failed');
  });

  it('move both machines afterwards', async () => {
    await migrate('h2');
    await proceed('h2', 'h1', 'completed');
  });

  it('leave the machines in place when the destination host process is killed, and move them afterwards', async () => {
    await migrate('h1');
    await inProgress();
    await hosts.kill('h1');
    await hosts.start('h1', SLOW);
    await proceed('h2', 'h1', 'failed');
    await migrate('h1');
    await proceed('h1', 'h2', 'completed');
  });
});
