import { connect } from 'node:net';
import { type Check, type CheckTiming, TIMING_KEYS } from '../check.js';
import { HealthcheckConfigError } from '../errors.js';
import { rejectUnknown } from '../known-names.js';
import { timingOf } from './limit-options.js';

/** Options of `tcp()`. */
export interface TcpOptions extends CheckTiming {
  /** The name of the check in `backends` and groups. Default `tcp:<host>:<port>`. */
  readonly name?: string;
}

/** Fails if the host does not accept connections at the port. */
export function tcp(host: string, port: number, options: TcpOptions = {}): Check {
  rejectUnknown('tcp()', options, ['name', ...TIMING_KEYS]);
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
  /** The name of the check in `backends` and groups. Default `http:` and the URL without query string. */
  readonly name?: string;
  /** The healthy statuses. Default: 200 to 299. Redirects are not followed. */
  readonly statuses?: readonly number[];
}

/** Fails if a GET of the URL does not return a healthy status. */
export function http(url: string | URL, options: HttpOptions = {}): Check {
  rejectUnknown('http()', options, ['name', 'statuses', ...TIMING_KEYS]);
  const target = URL.canParse(String(url)) ? new URL(url) : undefined;
  if (!target || !/^https?:$/.test(target.protocol) || target.username || target.password) {
    const fix = 'Give an absolute http: or https: address without user and password';
    throw new HealthcheckConfigError('url', 'unusable in http()', fix);
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
        const details = `${shown} returned ${response.status}`;
        return healthy
          ? { state: 'available', details }
          : { state: 'unavailable', reason: 'UNHEALTHY ANSWER', details };
      } catch (error) {
        return { state: 'unavailable', reason: 'UNREACHABLE', details: `${shown}: ${describe(error)}` };
      }
    },
  };
}

/** Node stores the reason of a failed fetch in the cause, and those of several failed addresses in its list. */
function describe(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  const { code, message } = cause as { code?: string; message?: string };
  return message || code || String(cause);
}
