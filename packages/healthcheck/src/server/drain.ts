import { Server } from 'node:net';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { Connection, Guard } from './connection.js';
import { wholeNumbers } from './limits.js';

/** How a server takes leave. Milliseconds. */
export interface DrainOptions {
  /** Told at once, so that balancers send nothing new: the `healthcheck()` of the server. */
  readonly health?: { shutdown(): void };
  /** How long new connections and requests are still served: balancers need a few probes to notice. Default 5,000. */
  readonly delayMs?: number;
  /** A connection without requests for so long is closed, once the delay is over. Default 100. */
  readonly quietMs?: number;
  /** How long all of the rest may take before connections are cut. Default 10,000. */
  readonly graceMs?: number;
}

const DEFAULTS = { delayMs: 5_000, quietMs: 100, graceMs: 10_000 } as const;

export function drainTimes({ health: _, ...times }: DrainOptions): Required<Omit<DrainOptions, 'health'>> {
  return wholeNumbers<Omit<DrainOptions, 'health'>>('drain()', times, DEFAULTS, ['delayMs', 'quietMs', 'graceMs']);
}

/** Ends a server so that whatever was sent to it before is answered; resolves when its last connection is closed. */
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
  // Connections that the system has accepted already are taken in before the listener goes.
  await turn();
  await turn();
  // Clients that send ahead may have done so before we began: they are read until they pause, or for a fair while.
  const stopReading = setTimeout(
    () => {
      guard.closing = true;
      for (const connection of connections) connection.close();
    },
    Math.max(0, graceMs / 4 - delayMs),
  );
  // An HTTP server's own `close` would also cut connections whose next request has just arrived.
  const closed = new Promise<void>((resolve) => Server.prototype.close.call(server, () => resolve()));
  const endQuiet = setInterval(() => {
    const before = performance.now() - quietMs;
    for (const connection of connections) if (!connection.busy && connection.quietSince <= before) connection.end();
  }, 20);
  const cut = setTimeout(() => {
    for (const { socket } of connections) socket.destroy();
  }, graceMs);
  await closed;
  clearInterval(endQuiet);
  clearTimeout(stopReading);
  clearTimeout(cut);
}
