import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { expect, inject, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { startPostgresPair } from '../../../../testing/postgres-pair.js';
import { type Program, startProgram, workersOf } from '../program.js';

const server = { flavorRef: '1', imageRef: '70a599e0-31e7-49b7-b260-868f441e862b', networks: 'none' };
/** The timeout of a test step, which waits for two databases and three processes. */
const POLLING = { timeout: 100_000, interval: 100 };

/** Returns the process that serves a connection. The kernel knows the process, but responses do not contain it. */
function processBehind(pids: readonly number[], port: number, from: number): number | undefined {
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(4, '0');
  const connections = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const fields = connections.map((line) => line.trim().split(/\s+/));
  const inode = fields.find(
    ([, local, remote]) => local?.endsWith(`:${hex(port)}`) && remote?.endsWith(`:${hex(from)}`),
  )?.[9];
  const has = (pid: number) =>
    readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`;
      } catch {
        // Closed in the meantime.
        return false;
      }
    });
  return inode === undefined ? undefined : pids.find(has);
}

/** A client with one persistent connection, which one worker serves. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: URL;
  /** The worker that sent the last response. */
  worker: number | undefined;
  readonly #workers: readonly number[];

  constructor(program: Program) {
    this.#url = new URL(program.url);
    this.#workers = workersOf(program);
    onTestFinished(() => this.#agent.destroy());
  }

  request(method: string, path: string, token: string, body?: unknown): Promise<{ status: number; body: any }> {
    const headers = {
      'X-Auth-Token': token,
      'Content-Type': 'application/json',
      'OpenStack-API-Version': 'compute 2.37',
    };
    return new Promise((resolve, reject) => {
      const requested = request(new URL(path, this.#url), { method, headers, agent: this.#agent }, (response) => {
        this.worker = processBehind(this.#workers, Number(this.#url.port), response.socket.localPort!);
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.once('end', () =>
          resolve({ status: response.statusCode!, body: JSON.parse(String(Buffer.concat(chunks))) }),
        );
        response.once('error', reject);
      });
      requested.once('error', reject);
      requested.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  async create(token: string, name: string): Promise<string> {
    const { status, body } = await this.request('POST', '/v2.1/servers', token, { server: { ...server, name } });
    expect([status, body]).toEqual([202, expect.anything()]);
    return body.server.id;
  }

  /** Returns name and status of all servers of the project. */
  async servers(token: string): Promise<string[]> {
    const { status, body } = await this.request('GET', '/v2.1/servers/detail', token);
    expect([status, body]).toEqual([200, expect.anything()]);
    return body.servers.map(({ name, status }: { name: string; status: string }) => `${name} ${status}`);
  }
}

/** Connects one client to each worker. */
async function clientOfEach(program: Program): Promise<readonly [Client, Client]> {
  const byWorker = new Map<number, Client>();
  return eventually(async () => {
    const client = new Client(program);
    await client.servers('ada:p1');
    if (client.worker !== undefined) byWorker.set(client.worker, client);
    const [one, other] = byWorker.values();
    if (!one || !other) throw new Error('all connections have gone to one worker so far');
    return [one, other] as const;
  }, POLLING);
}

it.skipIf(!inject('postgresUrl') || process.platform !== 'linux')(
  'workers that read from a replica show the writes of all of them, and use the primary when the replica dies',
  { timeout: 400_000 },
  async () => {
    const pair = await startPostgresPair(false);
    onTestFinished(() => pair.stop());
    const program = await startProgram([
      ...['--workers', '2', '--db', pair.url, '--db-read', pair.standbyUrl],
      ...['--database', 'maxStalenessMs=60000', '--metrics'],
    ]);
    onTestFinished(async () => void (await program.end('SIGKILL')));
    await eventually(() => expect(workersOf(program)).toHaveLength(2), POLLING);
    const [one, other] = await clientOfEach(program);
    const replica = new URL(pair.standbyUrl).host;
    const sample = new RegExp(`^apistrata_reads_total\\{database="${replica}/postgres"\\} (\\d+)`, 'm');
    /** Returns the number of replica queries of all workers. */
    const readings = async () => Number(sample.exec(await (await fetch(`${program.url}/metrics`)).text())?.[1] ?? 0);
    const bothReadFromReplica = async () => {
      for (const client of [one, other])
        await eventually(async () => {
          const before = await readings();
          await client.servers('bob:p2');
          expect(await readings()).toBeGreaterThan(before);
        }, POLLING);
    };

    await one.create('ada:p1', 'first');
    await eventually(async () => expect(await other.servers('ada:p1')).toEqual(['first ACTIVE']), POLLING);
    await bothReadFromReplica();

    // From here, the replica lags, so only the primary can return new records.
    pair.pauseReplay();
    const second = await one.create('ada:p1', 'second');
    for (const client of [other, one])
      expect((await client.request('GET', `/v2.1/servers/${second}`, 'ada:p1')).status).toBe(200);
    const third = await other.create('ada:p1', 'third');
    for (const client of [one, other])
      expect((await client.request('GET', `/v2.1/servers/${third}`, 'ada:p1')).status).toBe(200);
    const all = ['third ACTIVE', 'second ACTIVE', 'first ACTIVE'];
    for (const client of [one, other])
      await eventually(async () => expect(await client.servers('ada:p1')).toEqual(all), POLLING);
    // Other projects have written nothing, so their reads may use the replica.
    await bothReadFromReplica();

    await pair.killStandby();
    const read = await readings();
    for (let round = 0; round < 5; round++)
      for (const client of [one, other]) {
        expect(await client.servers('ada:p1')).toEqual(all);
        expect(await client.servers('bob:p2')).toEqual([]);
      }
    expect(await readings()).toBe(read);
    const fourth = await other.create('bob:p2', 'fourth');
    expect((await one.request('GET', `/v2.1/servers/${fourth}`, 'bob:p2')).status).toBe(200);
    await eventually(async () => expect(await one.servers('bob:p2')).toEqual(['fourth ACTIVE']), POLLING);

    await pair.startStandby();
    await bothReadFromReplica();
    for (const client of [one, other]) expect(await client.servers('ada:p1')).toEqual(all);
    // The processes and connections did not change.
    expect([one.worker, other.worker].sort()).toEqual(workersOf(program).sort());
    expect(await program.end('SIGTERM')).toBe(0);
  },
);
