import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Server as SecureServer } from 'node:tls';
import { Connection, type Guard } from './connection.js';
import { type DrainOptions, drain, drainTimes } from './drain.js';
import { type GuardLimits, guardLimits } from './limits.js';

/** A server of `node:http` or `node:https`. */
export type HttpServer = Server | HttpsServer;

/** What a guarded server has to do with at this moment, and what it has refused since its start. */
export interface ServerStatistics {
  readonly connections: number;
  /** Connections with a request that is being answered. */
  readonly busy: number;
  /** Bytes of answers that their clients have not taken yet. */
  readonly unreadBytes: number;
  /** Connections closed because there were too many. */
  readonly dropped: number;
  /** Connections closed because their clients read too slowly or not at all. */
  readonly stalled: number;
}

/** A server whose clients cannot take more than their share, and that can take leave of them. */
export interface GuardedServer {
  statistics(): ServerStatistics;
  /** Replaces limits while the server runs; those left out stay as they are. Throws like `guardServer()`. */
  limit(changed: GuardLimits): void;
  /**
   * Fails the health endpoint, answers with `Connection: close`, goes on listening for the delay, and ends when every
   * request that was received has been answered. Calling it again waits for the same end.
   *
   * @throws HealthcheckConfigError for options that are unknown or out of bounds
   */
  drain(options?: DrainOptions): Promise<void>;
}

/** How often answers that nobody reads are counted. */
const LOOK_MS = 1_000;

const CONNECTION = Symbol('connection');
type Known = Socket & { [CONNECTION]?: Connection };

/**
 * Bounds what connections may cost and gives the server a graceful end. Call it when every request listener is attached:
 * `const guarded = guardServer(app.listen(3000))`. Of what Node offers itself it sets `maxConnections`, `timeout`,
 * `keepAliveTimeout`, `headersTimeout` and `requestTimeout`.
 *
 * @throws HealthcheckConfigError for limits that are unknown or out of bounds
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

  function giveUp(connection: Connection): void {
    stalled++;
    connection.socket.destroy();
  }

  /** Node measures silence by what moves in either direction, a large answer on its slow way included. */
  function silent(socket: Known): void {
    const connection = socket[CONNECTION];
    if (connection && connection.unreadBytes > 0) giveUp(connection);
    else if (!connection?.busy) socket.destroy();
  }

  function look(): void {
    let total = 0;
    const waiting: Connection[] = [];
    for (const connection of connections) {
      if (connection.unreadBytes === 0) continue;
      total += connection.unreadBytes;
      // What is on its way for less than a look may well be read in a moment.
      if (++connection.looksUnread > 1) waiting.push(connection);
    }
    waiting.sort((a, b) => a.looksUnread - b.looksUnread);
    while (total > limits.maxUnreadBytes) {
      const longest = waiting.pop();
      if (!longest) break;
      total -= longest.unreadBytes;
      giveUp(longest);
    }
  }

  apply();
  server.removeAllListeners('request');
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    (req.socket as Known)[CONNECTION]!.arrive(req, res);
  });
  // After Node's own listener, so that ours has the last word about reading.
  server.on(server instanceof SecureServer ? 'secureConnection' : 'connection', (socket: Known) => {
    const connection = new Connection(socket, guard);
    socket[CONNECTION] = connection;
    connections.add(connection);
    socket.once('close', () => connections.delete(connection));
  });
  server.on('timeout', silent);
  server.on('drop', () => dropped++);
  const looking = setInterval(look, LOOK_MS);
  looking.unref();
  server.once('close', () => clearInterval(looking));

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
