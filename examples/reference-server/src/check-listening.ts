import { isLoopback } from '@apistrata/compute-router';
import type { Logger } from 'pino';
import { callerKindOf } from './callers.js';
import type { Options } from './options.js';
import { StartError } from './start-error.js';

/** Returns whether clients on other computers can use the API without authentication. */
function isReachableUnauthenticated(options: Pick<Options, 'host' | 'auth' | 'cloud'>): boolean {
  return callerKindOf(options) === 'noauth' && !isLoopback(options.host);
}

/** Checks that the server authenticates its callers if other computers can reach it, unless `--insecure` is set. @throws StartError */
export function checkListening(options: Pick<Options, 'host' | 'auth' | 'cloud' | 'insecure'>): void {
  if (isReachableUnauthenticated(options) && !options.insecure)
    throw new StartError(
      `--host ${options.host} needs --cloud, --auth tokens or --auth identity: with --auth noauth, every client that reaches this computer is an administrator. To accept this, set --insecure`,
    );
}

/** Logs a warning if clients on other computers can use the API without authentication. */
export function warnIfUnauthenticated(
  options: Pick<Options, 'host' | 'auth' | 'cloud'>,
  log: Pick<Logger, 'warn'>,
): void {
  if (isReachableUnauthenticated(options))
    log.warn(`clients are not authenticated: every client that reaches ${options.host} is an administrator`);
}
