import { constants } from 'node:os';
import type { Logger } from 'pino';
import { HAND_BACK_MS } from './end-times.js';

/** What others may ask for beside signals. */
export interface EndCommands {
  /** As SIGTERM does; nothing where that came already. */
  readonly end: () => void;
  /** Ends when that is done, unless a signal comes first. */
  readonly endAfter: (left: () => Promise<void>) => void;
}

/** What is ended in order. */
export interface Ending {
  readonly log: Logger;
  readonly stop: () => Promise<void>;
  /** How long `stop` takes at the most before background work is handed back. */
  readonly stopsWithinMs: number;
}

/**
 * Ends the program in order, once: at SIGTERM or SIGINT, and when something broke that nobody caught. A second signal
 * ends it at once, and so does time, when it takes too long.
 */
export function endInOrder({ stop, stopsWithinMs, log }: Ending): EndCommands {
  let ending = false;

  function end(code: number): void {
    ending = true;
    const bound = setTimeout(() => {
      log.error('ending takes too long: the rest is left to the next start');
      process.exit(1);
    }, stopsWithinMs + HAND_BACK_MS);
    bound.unref();
    exitAfter(stop, code);
  }

  function exitAfter(left: () => Promise<void>, code: number): void {
    left().then(
      () => process.exit(code),
      (error) => {
        log.error({ err: error }, 'ending failed');
        process.exit(1);
      },
    );
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (ending) process.exit(128 + constants.signals[signal]);
      log.info({ signal }, 'ending: what was asked is answered; a second signal ends at once');
      end(0);
    });
  }
  // Whatever it was, its request or its job may hang; others end well, and a supervisor starts a clean process.
  for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal(
        { err: error },
        event === 'uncaughtException' ? 'an error that nobody caught' : 'a promise that nobody awaits failed',
      );
      if (!ending) end(1);
    });
  }
  return {
    end() {
      if (!ending) end(0);
    },
    endAfter(left) {
      if (!ending) exitAfter(left, 0);
    },
  };
}
