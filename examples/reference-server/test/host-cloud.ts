import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../testing/eventually.js';
import { type Program, sendRequest, startHost, startProgram } from './program.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const ADMIN = 'admin:demo:admin';

/** The fields of a server that tests check. */
export interface SeenServer {
  readonly id: string;
  readonly status: string;
  readonly task: string | null;
  readonly host: string | null;
  readonly fault: string | undefined;
}

type Ended = Pick<Program, 'end' | 'output' | 'pid'>;

/** A cloud of API processes and host processes that share a database. Methods can be destructured. */
export class HostCloud {
  readonly #database: string;
  readonly #folder: string;
  readonly #latencyMs: number;
  readonly #environment = { APISTRATA_SECRET_KEY: randomBytes(32).toString('base64') };
  readonly #running = new Set<Ended>();
  readonly #hosts = new Map<string, Ended>();
  #url = '';

  constructor(database: string, folder: string, latencyMs: number) {
    this.#database = database;
    this.#folder = folder;
    this.#latencyMs = latencyMs;
  }

  /** Starts a process that serves the API. Later requests are sent to this process. */
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

  /** Starts a host with the secret key of the cloud. */
  readonly startHost = (name: string, args: readonly string[] = []): Promise<Ended> =>
    this.#startHost(name, this.#database, this.#environment, args);

  /** Starts a host that has only its own key, and connects to the database with its own role. */
  readonly startLimitedHost = (
    name: string,
    database: string,
    keyFile: string,
    args: readonly string[] = [],
  ): Promise<Ended> =>
    this.#startHost(name, database, { APISTRATA_SECRET_KEY: '' }, ['--host-key-file', keyFile, ...args]);

  /** The environment variables of the cloud's processes, which contain the secret key. */
  get environment(): NodeJS.ProcessEnv {
    return this.#environment;
  }

  async #startHost(
    name: string,
    database: string,
    environment: NodeJS.ProcessEnv,
    args: readonly string[],
  ): Promise<Ended> {
    const host = await startHost(
      [
        ...['--name', name, '--db', database, '--machine-dir', join(this.#folder, name), '--log-level', 'error'],
        ...['--latency-ms', String(this.#latencyMs), '--resource', 'vcpus=8', '--resource', 'memoryMb=8192'],
        ...['--resource', 'diskGb=100', '--heartbeat-ms', '500', '--lease-ms', '1500'],
        ...args,
      ],
      environment,
    );
    this.#running.add(host);
    this.#hosts.set(name, host);
    return host;
  }

  /** Kills the process of a host. */
  readonly kill = async (name: string): Promise<void> => {
    await this.#hosts.get(name)?.end('SIGKILL');
  };

  readonly request = (method: string, path: string, body?: unknown, version = '2.90') =>
    sendRequest(this.#url, method, `/v2.1${path}`, { version, token: ADMIN, body });

  /** Creates a server and returns its id. */
  readonly create = async (name: string, more: object = {}): Promise<string> => {
    const server = { name, flavorRef: '1', imageRef: IMAGE, networks: 'none', ...more };
    const { status, body } = await this.request('POST', '/servers', { server });
    if (status !== 202) throw new Error(JSON.stringify(body));
    return body.server.id;
  };

  readonly see = async (id: string): Promise<SeenServer> => {
    const { status, body } = await this.request('GET', `/servers/${id}`);
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
      if (!(await holds())) throw new Error('the condition was not met');
    };
    await eventually(attempt);
  };

  /** Returns the server once no action is in progress. */
  readonly settled = async (id: string): Promise<SeenServer> => {
    const free = async () => {
      const { task, status } = await this.see(id);
      return task === null && status !== 'BUILD';
    };
    await this.until(free);
    return this.see(id);
  };

  /** Returns the ids of the servers with a machine on a host. */
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
