import { Server } from 'node:net';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { Connection, Guard } from './connection.js';
import { integers } from './limits.js';

/** Options of a graceful shutdown. Times in milliseconds. */
export interface DrainOptions {
  /** The `healthcheck()` of the server, which fails immediately so that load balancers send no new requests. */
  readonly health?: { shutdown(): void };
  /**
   * How long new connections and requests are still served: load balancers need a few probes to notice. Default 5,000.
   */
  readonly delayMs?: number;
  /** After the delay, a connection without requests for this time is closed. Default 100. */
  readonly quietMs?: number;
  /** Maximum time for the remaining requests before connections are closed. Default 10,000. */
  readonly graceMs?: number;
}

const DEFAULTS = { delayMs: 5_000, quietMs: 100, graceMs: 10_000 } as const;

export function drainTimes({ health: _, ...times }: DrainOptions): Required<Omit<DrainOptions, 'health'>> {
  return integers<Omit<DrainOptions, 'health'>>('drain()', times, DEFAULTS, ['delayMs', 'quietMs', 'graceMs']);
}

/**
 * Shuts a server down so that every request that was already received gets a response; resolves when its last connection is
 * closed.
 */
export async function drain(
  server: Server,
  connections: ReadonlySet<Connection>,
  guard: Guard,
  options: DrainOptions,
): Promise<void> {
  const { delayMs, quietMs, graceMs } = drainTimes(options);
  options.health?.shutdown();
  guard.draining = true;
  for (const connection of connections) connection.drain();
  if (delayMs > 0) await pause(delayMs);
  // Accepts connections that the operating system has already accepted, before the listener is closed.
  await turn();
  await turn();
  // Clients that pipeline may already have sent more requests. These are read until no data arrives, or for a limited
  // time.
  const stopReading = setTimeout(
    () => {
      guard.closing = true;
      for (const connection of connections) connection.close();
    },
    Math.max(0, graceMs / 4 - delayMs),
  );
  // The `close` of an HTTP server would also close connections whose next request has just arrived.
  const closed = new Promise<void>((resolve) => Server.prototype.close.call(server, () => resolve()));
  const closeIdle = setInterval(() => {
    const before = performance.now() - quietMs;
    for (const connection of connections) if (!connection.busy && connection.quietSince <= before) connection.end();
  }, 20);
  const cut = setTimeout(() => {
    for (const { socket } of connections) socket.destroy();
  }, graceMs);
  await closed;
  clearInterval(closeIdle);
  clearTimeout(stopReading);
  clearTimeout(cut);
}
