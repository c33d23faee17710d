import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEngine, defaultPreset, type Engine, type EngineOptions, type Preset } from '@apistrata/compute-engine';
import { type ComputeRouterOptions, computeRouter, noauth } from '../src/index.js';
import { databaseUnderTest } from './database-under-test.js';

/** Ids of the default preset. */
export const ids = {
  image: defaultPreset.images![0]!.id,
  network: defaultPreset.networks![0]!.id,
  publicNetwork: defaultPreset.networks![1]!.id,
  tiny: '1',
  small: '2',
} as const;

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; undefined for an empty body; the text if it is not JSON. */
  readonly body: any;
}

/** One caller at one microversion. */
export interface Client {
  get(path: string): Promise<ApiResponse>;
  delete(path: string): Promise<ApiResponse>;
  post(path: string, body?: unknown): Promise<ApiResponse>;
  put(path: string, body?: unknown): Promise<ApiResponse>;
  /** Sends `POST /servers/{id}/action` and, by default, waits for the resulting background jobs. */
  act(serverId: string, action: string, argument?: unknown): Promise<ApiResponse>;
  /** Creates a server and waits until it is ACTIVE. By default, it is not connected to a network. */
  boot(fields?: Record<string, unknown>): Promise<any>;
}

export interface Api {
  readonly url: string;
  readonly engine: Engine;
  /** Errors that caused a 500. */
  readonly errors: unknown[];
  /** @param token `USER[:PROJECT[:ROLE,ROLE]]`; `admin:p1` is an administrator, `ada:p1` a member */
  as(token: string, version?: string): Client;
  /** Waits until no background job is left. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export interface ApiOptions {
  readonly preset?: Preset;
  readonly engine?: EngineOptions;
  readonly router?: Partial<ComputeRouterOptions>;
}

/** Returns clients of the API at a URL; `idle` waits until no background job is left. */
export function clientsOf(url: string, idle: () => Promise<void>): Api['as'] {
  function as(token: string, version?: string): Client {
    async function send(method: string, path: string, body?: unknown): Promise<ApiResponse> {
      const response = await fetch(`${url}/v2.1${path}`, {
        method,
        headers: {
          'X-Auth-Token': token,
          ...(version && { 'OpenStack-API-Version': `compute ${version}` }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: parse(text) };
    }
    const client: Client = {
      get: (path) => send('GET', path),
      delete: (path) => send('DELETE', path),
      post: (path, body) => send('POST', path, body),
      put: (path, body) => send('PUT', path, body),
      act: async (serverId, action, argument = null) => {
        const responded = await send('POST', `/servers/${serverId}/action`, { [action]: argument });
        await idle();
        return responded;
      },
      boot: async (fields = {}) => {
        const server = { name: 'web', flavorRef: ids.tiny, imageRef: ids.image, networks: 'none', ...fields };
        const created = await as(token, '2.37').post('/servers', { server });
        if (created.status !== 202) throw new Error(`the server was not created: ${JSON.stringify(created.body)}`);
        await idle();
        return (await client.get(`/servers/${created.body.server.id}`)).body.server;
      },
    };
    return client;
  }

  return as;
}

/**
 * Starts a compute API over HTTP on a free port, with an empty database of the kind that the Vitest project tests.
 * Every response is validated against its operation's schema.
 */
export async function apiUnderTest(options: ApiOptions = {}): Promise<Api> {
  const errors: unknown[] = [];
  const database = await databaseUnderTest();
  const engine = await createEngine({
    database: database.url,
    databaseRead: database.replicas,
    preset: options.preset,
    onError: (error) => errors.push(error),
    ...options.engine,
  });
  if (database.replicas.length > 0) await untilUsable(engine);
  const router = computeRouter({
    engine,
    identity: noauth(),
    validateReplies: true,
    onError: (error) => errors.push(error),
    ...options.router,
  });
  // On a busy machine the server must not close connections that the client is about to reuse.
  const server: HttpServer = createServer({ keepAliveTimeout: 60_000 }, router);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const idle = () => engine.idle();

  const as = clientsOf(url, idle);

  return {
    url,
    engine,
    errors,
    as,
    idle,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await engine.close();
      database.release();
    },
  };
}

/** Waits until requests can use the replica: it has the database, and notifications of writes arrive. */
async function untilUsable({ statistics }: Engine): Promise<void> {
  for (;;) {
    const states = await statistics.replicas();
    if (states.every(({ failure, staleMs }) => failure === undefined && staleMs !== undefined)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
