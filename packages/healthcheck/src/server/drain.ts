import { Server } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Connection, ConnectionGuard } from './connection.js';
import { validateIntegers } from './limits.js';

/** Options for a graceful shutdown. Times are in milliseconds. */
export interface DrainOptions {
  /**
   * The health check of the server. It fails as soon as the shutdown starts, so that load balancers send no new
   * requests.
   */
  readonly health?: { shutdown(): void };
  /**
   * How long new connections and requests are still served, so that load balancers have time to detect the shutdown.
   * Default 5,000.
   */
  readonly delayMs?: number;
  /** How long a connection must be idle, after the delay, before it is closed. Default 100. */
  readonly quietMs?: number;
  /** Maximum time for the remaining requests before connections are closed. Default 10,000. */
  readonly graceMs?: number;
}

const DEFAULT_TIMES = { delayMs: 5_000, quietMs: 100, graceMs: 10_000 } as const;

/** Validates the shutdown times and adds defaults. @throws HealthcheckConfigError if an option is unknown or out of range */
export function drainTimes({ health: _, ...times }: DrainOptions): Required<Omit<DrainOptions, 'health'>> {
  return validateIntegers<Omit<DrainOptions, 'health'>>('drain()', times, DEFAULT_TIMES, [
    'delayMs',
    'quietMs',
    'graceMs',
  ]);
}

/**
 * Shuts a server down: completes every request that it has received, then closes the connections. When
 * `graceMs` have passed after the delay, closes all connections. Resolves when the last connection is closed.
 */
export async function drain(
  server: Server,
  connections: ReadonlySet<Connection>,
  guard: ConnectionGuard,
  options: DrainOptions,
): Promise<void> {
  const { delayMs, quietMs, graceMs } = drainTimes(options);
  options.health?.shutdown();
  guard.draining = true;
  for (const connection of connections) connection.drain();
  if (delayMs > 0) await delay(delayMs);
  // Lets Node receive the connections that the operating system has already accepted, before the listener is closed.
  await nextTurn();
  await nextTurn();
  // Clients that pipeline may already have sent more requests, which are read until no data arrives, or for a limited time.
  const stopReadingTimer = setTimeout(
    () => {
      guard.stopsReading = true;
      for (const connection of connections) connection.stopReading();
    },
    Math.max(0, graceMs / 4 - delayMs),
  );
  // The `close` method of an HTTP server would also close connections on which the next request has just arrived.
  const serverClosed = new Promise<void>((resolve) => Server.prototype.close.call(server, () => resolve()));
  const idleTimer = setInterval(() => {
    const latestIdleStart = performance.now() - quietMs;
    for (const connection of connections)
      if (!connection.busy && connection.quietSince <= latestIdleStart) connection.end();
  }, 20);
  const graceTimer = setTimeout(() => {
    for (const { socket } of connections) socket.destroy();
  }, graceMs);
  await serverClosed;
  clearInterval(idleTimer);
  clearTimeout(stopReadingTimer);
  clearTimeout(graceTimer);
}
