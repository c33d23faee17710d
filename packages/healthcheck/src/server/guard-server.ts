import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Server as SecureServer } from 'node:tls';
import { Connection, type Guard } from './connection.js';
import { type DrainOptions, drain, drainTimes } from './drain.js';
import { type GuardLimits, guardLimits } from './limits.js';

/** A server of `node:http` or `node:https`. */
export type HttpServer = Server | HttpsServer;

/** The current load of a guarded server, and the connections it has closed since its start. */
export interface ServerStatistics {
  readonly connections: number;
  /** Connections with a request in progress. */
  readonly busy: number;
  /** Bytes of responses that clients have not read yet. */
  readonly unreadBytes: number;
  /** Connections closed because there were too many. */
  readonly dropped: number;
  /** Connections closed because their clients read too slowly or not at all. */
  readonly stalled: number;
}

/** A server with limits for its clients and a graceful shutdown. */
export interface GuardedServer {
  statistics(): ServerStatistics;
  /** Changes limits at runtime; missing ones stay unchanged. Throws like `guardServer()`. */
  limit(changed: GuardLimits): void;
  /**
   * Fails the health endpoint, responds with `Connection: close`, continues to listen for the delay, and ends when
   * every received request has a response. Later calls wait for the same shutdown.
   *
   * @throws HealthcheckConfigError if an option is unknown or out of range
   */
  drain(options?: DrainOptions): Promise<void>;
}

/** Interval between checks for unread responses. */
const POLL_INTERVAL_MS = 1_000;

const CONNECTION = Symbol('connection');
type Known = Socket & { [CONNECTION]?: Connection };

/**
 * Limits the resources of connections, and adds a graceful shutdown to the server. Call it after all request listeners
 * are attached: `const guarded = guardServer(app.listen(3000))`. Of Node's own limits, it sets `maxConnections`,
 * `timeout`, `keepAliveTimeout`, `headersTimeout` and `requestTimeout`.
 *
 * @throws HealthcheckConfigError for limits that are unknown or out of range
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { guardServer } from '@apistrata/healthcheck/server';
 *
 * const server = createServer((_req, res) => void res.end()).listen(3000);
 * const guarded = guardServer(server, { maxConnections: 2_000 });
 * process.once('SIGTERM', () => guarded.drain({ delayMs: 5_000 }));
 * ```
 */
export function guardServer(server: HttpServer, given: GuardLimits = {}): GuardedServer {
  let limits = guardLimits(given);
  const listeners = server.listeners('request') as RequestListener[];
  const connections = new Set<Connection>();
  let dropped = 0;
  let stalled = 0;
  let drained: Promise<void> | undefined;

  const [first, ...others] = listeners;
  const guard: Guard & { maxPipelined: number } = {
    serve:
      first && others.length === 0
        ? first
        : (req, res) => {
            for (const listener of listeners) listener.call(server, req, res);
          },
    maxPipelined: limits.maxPipelined,
    draining: false,
    closing: false,
  };

  function apply(): void {
    guard.maxPipelined = limits.maxPipelined;
    server.maxConnections = limits.maxConnections;
    server.timeout = limits.unreadMs;
    server.keepAliveTimeout = limits.keepAliveMs;
    server.headersTimeout = limits.headersMs;
    server.requestTimeout = limits.requestMs;
  }

  function closeAfterTimeout(connection: Connection): void {
    stalled++;
    connection.socket.destroy();
  }

  /** Node measures inactivity in both directions, including a large response that is read slowly. */
  function closeUnread(socket: Known): void {
    const connection = socket[CONNECTION];
    if (connection && connection.unreadBytes > 0) closeAfterTimeout(connection);
    else if (!connection?.busy) socket.destroy();
  }

  function sample(): void {
    let total = 0;
    const waiting: Connection[] = [];
    for (const connection of connections) {
      if (connection.unreadBytes === 0) continue;
      total += connection.unreadBytes;
      // A response that is pending for less than one interval may still be read soon.
      if (++connection.isUnread > 1) waiting.push(connection);
    }
    waiting.sort((a, b) => a.isUnread - b.isUnread);
    while (total > limits.maxUnreadBytes) {
      const longest = waiting.pop();
      if (!longest) break;
      total -= longest.unreadBytes;
      closeAfterTimeout(longest);
    }
  }

  apply();
  server.removeAllListeners('request');
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    (req.socket as Known)[CONNECTION]?.arrive(req, res);
  });
  // After Node's own listener, so that this one has precedence.
  server.on(server instanceof SecureServer ? 'secureConnection' : 'connection', (socket: Known) => {
    const connection = new Connection(socket, guard);
    socket[CONNECTION] = connection;
    connections.add(connection);
    socket.once('close', () => connections.delete(connection));
  });
  server.on('timeout', closeUnread);
  server.on('drop', () => dropped++);
  const sampler = setInterval(sample, POLL_INTERVAL_MS);
  sampler.unref();
  server.once('close', () => clearInterval(sampler));

  return {
    statistics: () => ({
      connections: connections.size,
      busy: [...connections].filter(({ busy }) => busy).length,
      unreadBytes: [...connections].reduce((sum, { unreadBytes }) => sum + unreadBytes, 0),
      dropped,
      stalled,
    }),
    limit(changed) {
      limits = guardLimits({ ...limits, ...changed });
      apply();
    },
    drain(options = {}) {
      drainTimes(options);
      drained ??= drain(server, connections, guard, options);
      return drained;
    },
  };
}
