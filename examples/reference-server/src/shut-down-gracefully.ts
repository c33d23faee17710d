import { constants } from 'node:os';
import type { Logger } from 'pino';
import { RELEASE_LEASES_MS } from './shutdown-times.js';

/** Functions that end the program, in addition to signals. */
export interface ShutdownControl {
  /** Ends the program as SIGTERM does; a no-op if it is already ending. */
  readonly end: () => void;
  /** Calls `finish`, and ends the program when its promise resolves. A signal can end the program earlier. */
  readonly endAfter: (finish: () => Promise<void>) => void;
}

/** A server or host that can be shut down. */
export interface ShutdownTarget {
  readonly log: Logger;
  readonly stop: () => Promise<void>;
  /** The maximum time that `stop` takes before leases are released. */
  readonly stopsWithinMs: number;
}

/**
 * Shuts the program down gracefully, once: on SIGTERM, SIGINT, an uncaught exception or an unhandled rejection. A
 * second signal or a timeout ends it immediately.
 */
export function shutDownGracefully({ stop, stopsWithinMs, log }: ShutdownTarget): ShutdownControl {
  let isEnding = false;

  function end(code: number): void {
    isEnding = true;
    const timer = setTimeout(() => {
      log.error('shutdown timed out: interrupted jobs resume at the next start');
      process.exit(1);
    }, stopsWithinMs + RELEASE_LEASES_MS);
    timer.unref();
    exitAfter(stop, code);
  }

  function exitAfter(finish: () => Promise<void>, code: number): void {
    finish().then(
      () => process.exit(code),
      (error) => {
        log.error({ err: error }, 'shutdown failed');
        process.exit(1);
      },
    );
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isEnding) process.exit(128 + constants.signals[signal]);
      log.info(
        { signal },
        'shutting down: requests in flight are served; a second signal stops the process immediately',
      );
      end(0);
    });
  }
  // An unexpected error also shuts the process down gracefully: the affected request or job may hang, but others
  // complete. A supervisor then starts a new process.
  for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event === 'uncaughtException' ? 'uncaught exception' : 'unhandled promise rejection');
      if (!isEnding) end(1);
    });
  }
  return {
    end() {
      if (!isEnding) end(0);
    },
    endAfter(finish) {
      if (!isEnding) exitAfter(finish, 0);
    },
  };
}
