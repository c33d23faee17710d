import { connect } from 'node:net';
import { type Check, type CheckTiming, TIMING_KEYS } from '../check.js';
import { HealthcheckConfigError } from '../config-error.js';
import { refuseUnknown } from '../known-names.js';
import { timingOf } from './limit-options.js';

/** Options of `tcp()`. */
export interface TcpOptions extends CheckTiming {
  /** What `backends` and groups call the check. Default `tcp:<host>:<port>`. */
  readonly name?: string;
}

/** Fails while nobody accepts connections at that host and port. */
export function tcp(host: string, port: number, options: TcpOptions = {}): Check {
  refuseUnknown('tcp()', options, ['name', ...TIMING_KEYS]);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new HealthcheckConfigError('port', `${port} in tcp()`, 'Give a port from 1 to 65535');
  }
  return {
    name: options.name ?? `tcp:${host}:${port}`,
    ...timingOf(options),
    check: (signal) =>
      new Promise((resolve) => {
        const socket = connect({ host, port, signal }, () => {
          socket.destroy();
          resolve({ state: 'available', details: `${host}:${port} accepts connections` });
        });
        socket.once('error', (error) => {
          resolve({ state: 'unavailable', reason: 'UNREACHABLE', details: `${host}:${port}: ${describe(error)}` });
        });
      }),
  };
}

/** Options of `http()`. */
export interface HttpOptions extends CheckTiming {
  /** What `backends` and groups call the check. Default `http:` and the address without its query. */
  readonly name?: string;
  /** The statuses that are healthy. Default: 200 to 299. Redirects are not followed. */
  readonly statuses?: readonly number[];
}

/** Fails while a GET of the address does not give a healthy status. */
export function http(url: string | URL, options: HttpOptions = {}): Check {
  refuseUnknown('http()', options, ['name', 'statuses', ...TIMING_KEYS]);
  const target = URL.canParse(String(url)) ? new URL(url) : undefined;
  if (!target || !/^https?:$/.test(target.protocol) || target.username || target.password) {
    const cure = 'Give an absolute http: or https: address without user and password';
    throw new HealthcheckConfigError('url', 'unusable in http()', cure);
  }
  const shown = `${target.origin}${target.pathname}`;
  return {
    name: options.name ?? `http:${shown}`,
    ...timingOf(options),
    async check(signal) {
      try {
        const response = await fetch(target, { signal, redirect: 'manual' });
        await response.body?.cancel();
        const healthy = options.statuses ? options.statuses.includes(response.status) : response.ok;
        const details = `${shown} answered ${response.status}`;
        return healthy
          ? { state: 'available', details }
          : { state: 'unavailable', reason: 'UNHEALTHY ANSWER', details };
      } catch (error) {
        return { state: 'unavailable', reason: 'UNREACHABLE', details: `${shown}: ${describe(error)}` };
      }
    },
  };
}

/** Node hides the reason of a failed fetch in the cause, and that of several failed addresses in their list. */
function describe(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  const { code, message } = cause as { code?: string; message?: string };
  return message || code || String(cause);
}
