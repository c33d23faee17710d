import type { RequestListener } from 'node:http';

/** Names of this computer in URLs and in the `Host` header. */
const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;
const MISDIRECTED = 421;

/** Returns an address or host name in the form that URLs use: IPv6 in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * Protects pages on loopback against DNS rebinding: an attacker's site changes its name to resolve to this computer, and
 * its pages then send requests with that name in the `Host` header. Requests for names other than those of this computer
 * and `allowed` return 421. A server on another address accepts every name.
 *
 * @param host the address or host name that the server listens on
 */
export function onlyLocalHostNames(
  listener: RequestListener,
  host: string,
  allowed: readonly string[],
): RequestListener {
  if (!LOCAL.test(hostInUrl(host))) return listener;
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  return (req, res) => {
    const name = (req.headers.host ?? '').replace(/:\d*$/, '').toLowerCase();
    if (LOCAL.test(name) || names.has(name)) return listener(req, res);
    res
      .writeHead(MISDIRECTED, { 'Content-Type': 'text/plain; charset=utf-8' })
      .end(
        `These pages are not served for the host "${name}". Use localhost, or allow the name with --allowed-host.\n`,
      );
  };
}
