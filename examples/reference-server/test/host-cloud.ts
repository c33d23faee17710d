import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../testing/eventually.js';
import { ask, type Program, startHost, startProgram } from './program.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const ADMIN = 'admin:demo:admin';

/** What tests look at of a server. */
export interface SeenServer {
  readonly id: string;
  readonly status: string;
  readonly task: string | null;
  readonly host: string | null;
  readonly fault: string | undefined;
}

type Ended = Pick<Program, 'end' | 'output' | 'pid'>;

/** Processes that serve the API and processes that are hosts, with one database. The methods may be taken apart. */
export class HostCloud {
  readonly #database: string;
  readonly #folder: string;
  readonly #latencyMs: number;
  readonly #environment = { APISTRATA_SECRET_KEY: randomBytes(32).toString('base64') };
  readonly #running = new Set<Ended>();
  #url = '';

  constructor(database: string, folder: string, latencyMs: number) {
    this.#database = database;
    this.#folder = folder;
    this.#latencyMs = latencyMs;
  }

  /** Serves the API; later questions go to this process. */
  readonly startApi = async (args: readonly string[] = []): Promise<Program> => {
    const program = await startProgram(
      [
        '--db',
        this.#database,
        '--driver',
        'none',
        '--log-level',
        'error',
        '--setting',
        'serviceDownSeconds=5',
        ...args,
      ],
      this.#environment,
    );
    this.#running.add(program);
    this.#url = program.url;
    return program;
  };

  readonly startHost = async (name: string, args: readonly string[] = []): Promise<Ended> => {
    const host = await startHost(
      [
        ...['--name', name, '--db', this.#database, '--machine-dir', join(this.#folder, name), '--log-level', 'error'],
        ...['--latency-ms', String(this.#latencyMs), '--resource', 'vcpus=8', '--resource', 'memoryMb=8192'],
        ...['--resource', 'diskGb=100', '--heartbeat-ms', '500', '--lease-ms', '1500'],
        ...args,
      ],
      this.#environment,
    );
    this.#running.add(host);
    return host;
  };

  readonly ask = (method: string, path: string, body?: unknown, version = '2.90') =>
    ask(this.#url, method, `/v2.1${path}`, { version, token: ADMIN, body });

  /** Gives the id. */
  readonly create = async (name: string, more: object = {}): Promise<string> => {
    const server = { name, flavorRef: '1', imageRef: IMAGE, networks: 'none', ...more };
    const { status, body } = await this.ask('POST', '/servers', { server });
    if (status !== 202) throw new Error(JSON.stringify(body));
    return body.server.id;
  };

  readonly see = async (id: string): Promise<SeenServer> => {
    const { status, body } = await this.ask('GET', `/servers/${id}`);
    if (status !== 200) throw new Error(JSON.stringify(body));
    const { server } = body;
    return {
      id,
      status: server.status,
      task: server['OS-EXT-STS:task_state'],
      host: server['OS-EXT-SRV-ATTR:host'],
      fault: server.fault?.message,
    };
  };

  readonly until = async (holds: () => Promise<boolean>): Promise<void> => {
    const attempt = async () => {
      if (!(await holds())) throw new Error('it did not come to that');
    };
    await eventually(attempt);
  };

  /** The server when nothing is being done to it any more. */
  readonly settled = async (id: string): Promise<SeenServer> => {
    const free = async () => {
      const { task, status } = await this.see(id);
      return task === null && status !== 'BUILD';
    };
    await this.until(free);
    return this.see(id);
  };

  /** Ids of the servers that have a machine on a host. */
  readonly machinesOn = (name: string): string[] => {
    const folder = join(this.#folder, name);
    if (!existsSync(folder)) return [];
    return readdirSync(folder).flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : []));
  };

  async end(): Promise<void> {
    await Promise.all([...this.#running].map((program) => program.end('SIGKILL')));
    this.#running.clear();
  }
}
