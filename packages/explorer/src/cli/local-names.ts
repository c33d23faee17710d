import type { RequestListener } from 'node:http';

/** Matches the names of this computer in URLs and in the `Host` header. */
const LOCAL_NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;
const MISDIRECTED_REQUEST = 421;

/** Returns an address or host name in the form that URLs use, with IPv6 addresses in brackets. */
export function formatHostForUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * Protects pages on loopback against DNS rebinding, in which an attacker's domain resolves to this computer so that the
 * attacker's pages can send requests with that domain in the `Host` header. Requests return 421 if their host name is
 * neither local nor in `allowed`. A server on another address accepts every name.
 *
 * @param host the address or host name that the server listens on
 */
export function restrictHostNames(
  listener: RequestListener,
  host: string,
  allowed: readonly string[],
): RequestListener {
  if (!LOCAL_NAME.test(formatHostForUrl(host))) return listener;
  const allowedNames = new Set(allowed.map((name) => name.toLowerCase()));
  return (req, res) => {
    const name = (req.headers.host ?? '').replace(/:\d*$/, '').toLowerCase();
    if (LOCAL_NAME.test(name) || allowedNames.has(name)) return listener(req, res);
    res
      .writeHead(MISDIRECTED_REQUEST, { 'Content-Type': 'text/plain; charset=utf-8' })
      .end(
        `These pages are not served for the host "${name}". Use localhost, or allow the name with --allowed-host.\n`,
      );
  };
}
