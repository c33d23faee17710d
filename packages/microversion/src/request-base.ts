import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

/** Whether the forwarding headers of a request are to be believed. */
export type TrustProxy = boolean | ((req: IncomingMessage) => boolean);

/** What Express adds to a request and its application, where it is Express that serves. */
interface ExpressRequest extends IncomingMessage {
  readonly baseUrl?: string;
  readonly app?: { get?(setting: string): unknown };
}

const HOST = /^[A-Za-z0-9._~%-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/;
const PREFIX = /^(\/[A-Za-z0-9._~%-]+)+$/;

/** The application's own `trust proxy` setting, asked about the peer of the connection. */
function expressTrusts(req: ExpressRequest): boolean {
  const trusts = req.app?.get?.('trust proxy fn');
  return typeof trusts === 'function' && trusts(req.socket.remoteAddress, 0) === true;
}

function first(value: string | string[] | undefined): string | undefined {
  return value === undefined ? undefined : String(value).replace(/,.*/s, '').trim();
}

function localHost(req: IncomingMessage): string {
  const { localAddress = 'localhost', localPort } = req.socket;
  const host = localAddress.includes(':') ? `[${localAddress}]` : localAddress;
  return localPort === undefined ? host : `${host}:${localPort}`;
}

/**
 * The URL under which the client sees this API, without a slash at the end: scheme, host, and where the API is mounted.
 *
 * Host comes from the request, and from `X-Forwarded-Proto`, `-Host` and `-Prefix` where the proxy is trusted. Default
 * of `trustProxy`: the `trust proxy` setting of Express, false without Express. Text that is no host is not used.
 */
export function requestBase(req: IncomingMessage, trustProxy?: TrustProxy): string {
  const trusted =
    trustProxy === undefined ? expressTrusts(req) : typeof trustProxy === 'function' ? trustProxy(req) : trustProxy;
  const forwarded = (name: string) => (trusted ? first(req.headers[`x-forwarded-${name}`]) : undefined);
  const proto = forwarded('proto')?.toLowerCase();
  const scheme = proto === 'http' || proto === 'https' ? proto : (req.socket as TLSSocket).encrypted ? 'https' : 'http';
  const host = [forwarded('host'), req.headers.host].find((text) => text !== undefined && HOST.test(text));
  const prefix = forwarded('prefix')?.replace(/\/+$/, '') ?? '';
  const mount = (req as ExpressRequest).baseUrl ?? '';
  return `${scheme}://${host ?? localHost(req)}${PREFIX.test(prefix) ? prefix : ''}${mount.replace(/\/+$/, '')}`;
}
