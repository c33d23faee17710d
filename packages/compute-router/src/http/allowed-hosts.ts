import { isIPv4, isIPv6 } from 'node:net';
import type { Middleware } from './middleware.js';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const MISDIRECTED_REQUEST_STATUS = 421;

/** Returns an address or host name in the form that URLs use: in lower case, with IPv6 addresses in brackets. */
function formatHostForUrl(host: string): string {
  const lowerCaseHost = host.toLowerCase();
  return isIPv6(lowerCaseHost) ? `[${lowerCaseHost}]` : lowerCaseHost;
}

/**
 * Returns whether a server that listens on this address or host name accepts only connections from the same computer.
 */
export function isLoopback(host: string): boolean {
  const address = host.toLowerCase().replace(/^::ffff:/, '');
  return address === 'localhost' || address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}

/** Options for {@link allowedHosts}. */
export interface AllowedHostsOptions {
  /** The address or host name that the server listens on. */
  readonly host: string;
  /** Additional host names or addresses, without a port, that the `Host` header may contain. Default: none. */
  readonly allowed?: readonly string[];
}

/**
 * Creates a middleware that prevents DNS rebinding, an attack in which an attacker's host name resolves to 127.0.0.1,
 * so that the attacker's web pages can send requests to a local server. A server that listens on loopback, or has
 * `allowed` hosts, returns 421 unless the `Host` header contains localhost, 127.0.0.1, [::1], the server's own address
 * or one of the `allowed` hosts. Any other server accepts every host name.
 *
 * @throws TypeError if an allowed host has a scheme, a port or a path
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { allowedHosts } from '@apistrata/compute-router';
 *
 * const check = allowedHosts({ host: '127.0.0.1', allowed: ['compute.example.org'] });
 * createServer((req, res) => check(req, res, () => res.end('ok'))).listen(8774, '127.0.0.1');
 * ```
 */
export function allowedHosts({ host, allowed = [] }: AllowedHostsOptions): Middleware {
  for (const name of allowed) {
    const nameInUrl = formatHostForUrl(name);
    if (URL.parse(`http://${nameInUrl}`)?.hostname !== nameInUrl)
      throw new TypeError(`"${name}" must be a host name or an address, without a scheme, port or path`);
  }
  const acceptedNames = new Set([...LOOPBACK_NAMES, host, ...allowed].map(formatHostForUrl));
  const isRestricted = allowed.length > 0 || isLoopback(host);

  return function checkHost(req, res, next) {
    const name = formatHostForUrl((req.headers.host ?? '').replace(/:\d*$/, ''));
    if (!isRestricted || acceptedNames.has(name)) return next();
    const message = `This server does not serve the host "${name}". Use localhost, or allow the name when you start the server.`;
    const body = JSON.stringify({ error: { code: MISDIRECTED_REQUEST_STATUS, title: 'Misdirected Request', message } });
    res.writeHead(MISDIRECTED_REQUEST_STATUS, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    });
    res.end(body);
  };
}
