import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Server as SecureServer } from 'node:tls';
import { Connection, type ConnectionGuard } from './connection.js';
import { type DrainOptions, drain, drainTimes } from './drain.js';
import { type GuardLimits, guardLimits } from './limits.js';

/** A `node:http` or `node:https` server. */
export type HttpServer = Server | HttpsServer;

/** The current load of a guarded server, and the numbers of connections that it has closed since it started. */
export interface ServerStatistics {
  /** The number of open connections. */
  readonly connections: number;
  /** The number of connections with a request in progress. */
  readonly busy: number;
  /** The number of response bytes that clients have not read yet. */
  readonly unreadBytes: number;
  /** The number of connections that were closed because the limit was reached. */
  readonly dropped: number;
  /** The number of connections that were closed because their clients read too slowly or not at all. */
  readonly stalled: number;
}

/** A server with limits for its clients and a graceful shutdown. */
export interface GuardedServer {
  /** Returns the current load and the numbers of closed connections. */
  statistics(): ServerStatistics;
  /** Changes limits at runtime; omitted limits are unchanged. Throws the same errors as `guardServer()`. */
  limit(changed: GuardLimits): void;
  /**
   * Shuts the server down: the health endpoint fails, responses have `Connection: close`, and the server listens until
   * the end of the delay. Resolves when every received request is completed or `graceMs` have passed after the delay.
   * Later calls wait for the same shutdown.
   *
   * @throws HealthcheckConfigError if an option is unknown or out of range
   */
  drain(options?: DrainOptions): Promise<void>;
}

/** The interval between checks for unread responses. */
const POLL_INTERVAL_MS = 1_000;

const CONNECTION_KEY = Symbol('connection');
type TrackedSocket = Socket & { [CONNECTION_KEY]?: Connection };

/**
 * Limits the resources that client connections use, and adds a graceful shutdown to the server. Call it after all
 * request listeners are attached: `const guarded = guardServer(app.listen(3000))`. It also sets `maxConnections`,
 * `timeout`, `keepAliveTimeout`, `headersTimeout` and `requestTimeout` of the server.
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
export function guardServer(server: HttpServer, options: GuardLimits = {}): GuardedServer {
  let limits = guardLimits(options);
  const listeners = server.listeners('request') as RequestListener[];
  const connections = new Set<Connection>();
  let dropped = 0;
  let stalled = 0;
  let drainPromise: Promise<void> | undefined;

  const [firstListener, ...otherListeners] = listeners;
  const guard: ConnectionGuard & { maxPipelined: number } = {
    serve:
      firstListener && otherListeners.length === 0
        ? firstListener
        : (req, res) => {
            for (const listener of listeners) listener.call(server, req, res);
          },
    maxPipelined: limits.maxPipelined,
    draining: false,
    stopsReading: false,
  };

  function applyLimits(): void {
    guard.maxPipelined = limits.maxPipelined;
    server.maxConnections = limits.maxConnections;
    server.timeout = limits.unreadMs;
    server.keepAliveTimeout = limits.keepAliveMs;
    server.headersTimeout = limits.headersMs;
    server.requestTimeout = limits.requestMs;
  }

  function closeStalledConnection(connection: Connection): void {
    stalled++;
    connection.socket.destroy();
  }

  /** Closes an inactive connection, unless it waits for a handler. Node measures inactivity in both directions. */
  function closeInactive(socket: TrackedSocket): void {
    const connection = socket[CONNECTION_KEY];
    if (connection && connection.unreadBytes > 0) closeStalledConnection(connection);
    else if (!connection?.busy) socket.destroy();
  }

  /** If the unread responses exceed their limit, closes the connections with the oldest unread responses. */
  function limitUnreadBytes(): void {
    let total = 0;
    const waitingConnections: Connection[] = [];
    for (const connection of connections) {
      if (connection.unreadBytes === 0) continue;
      total += connection.unreadBytes;
      // A response that is unread in only one sample may be in transit to a client that reads it.
      if (++connection.unreadSamples > 1) waitingConnections.push(connection);
    }
    waitingConnections.sort((a, b) => a.unreadSamples - b.unreadSamples);
    while (total > limits.maxUnreadBytes) {
      const longestWaitingConnection = waitingConnections.pop();
      if (!longestWaitingConnection) break;
      total -= longestWaitingConnection.unreadBytes;
      closeStalledConnection(longestWaitingConnection);
    }
  }

  applyLimits();
  server.removeAllListeners('request');
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    (req.socket as TrackedSocket)[CONNECTION_KEY]?.receiveRequest(req, res);
  });
  // Added after Node's own listener, so that the changes of this listener take precedence.
  server.on(server instanceof SecureServer ? 'secureConnection' : 'connection', (socket: TrackedSocket) => {
    const connection = new Connection(socket, guard);
    socket[CONNECTION_KEY] = connection;
    connections.add(connection);
    socket.once('close', () => connections.delete(connection));
  });
  server.on('timeout', closeInactive);
  server.on('drop', () => dropped++);
  const samplingTimer = setInterval(limitUnreadBytes, POLL_INTERVAL_MS);
  samplingTimer.unref();
  server.once('close', () => clearInterval(samplingTimer));

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
      applyLimits();
    },
    drain(options = {}) {
      drainTimes(options);
      drainPromise ??= drain(server, connections, guard, options);
      return drainPromise;
    },
  };
}
