import { connect } from 'node:net';
import { type Check, type CheckTiming, TIMING_KEYS } from '../check.js';
import { HealthcheckConfigError } from '../errors.js';
import { rejectUnknownKeys } from '../known-names.js';
import { timingOf } from './limit-options.js';

/** Options for `tcp()`. */
export interface TcpOptions extends CheckTiming {
  /** The name by which `backends` and `groups` refer to the check. Default `tcp:<host>:<port>`. */
  readonly name?: string;
}

/** Creates a check that fails if a host does not accept connections on a port. */
export function tcp(host: string, port: number, options: TcpOptions = {}): Check {
  rejectUnknownKeys('tcp()', options, ['name', ...TIMING_KEYS]);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new HealthcheckConfigError('port', `${port} in tcp()`, 'Use a port from 1 to 65535');
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
          resolve({ state: 'unavailable', reason: 'UNREACHABLE', details: `${host}:${port}: ${failureReason(error)}` });
        });
      }),
  };
}

/** Options for `http()`. */
export interface HttpOptions extends CheckTiming {
  /**
   * The name by which `backends` and `groups` refer to the check. Default: `http:`, followed by the URL without its
   * query string.
   */
  readonly name?: string;
  /** The response statuses of a healthy service. Default: 200 to 299. Redirects are not followed. */
  readonly statuses?: readonly number[];
}

/** Creates a check that fails if the response to a GET request does not have one of the expected statuses. */
export function http(url: string | URL, options: HttpOptions = {}): Check {
  rejectUnknownKeys('http()', options, ['name', 'statuses', ...TIMING_KEYS]);
  const parsedUrl = URL.canParse(String(url)) ? new URL(url) : undefined;
  if (!parsedUrl || !/^https?:$/.test(parsedUrl.protocol) || parsedUrl.username || parsedUrl.password) {
    const fix = 'Use an absolute http: or https: URL without user name and password';
    throw new HealthcheckConfigError('url', 'invalid in http()', fix);
  }
  // The name and details of the check omit the query string, which may contain a secret.
  const publicUrl = `${parsedUrl.origin}${parsedUrl.pathname}`;
  return {
    name: options.name ?? `http:${publicUrl}`,
    ...timingOf(options),
    async check(signal) {
      try {
        const response = await fetch(parsedUrl, { signal, redirect: 'manual' });
        await response.body?.cancel();
        const isHealthy = options.statuses ? options.statuses.includes(response.status) : response.ok;
        const details = `${publicUrl} returned ${response.status}`;
        return isHealthy
          ? { state: 'available', details }
          : { state: 'unavailable', reason: 'UNHEALTHY RESPONSE', details };
      } catch (error) {
        return { state: 'unavailable', reason: 'UNREACHABLE', details: `${publicUrl}: ${failureReason(error)}` };
      }
    },
  };
}

/** Returns why a connection failed. If `fetch` threw the error, Node has stored the reason in its `cause`. */
function failureReason(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  const { code, message } = cause as { code?: string; message?: string };
  return message || code || String(cause);
}
