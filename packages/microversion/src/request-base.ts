import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

/** Whether the `X-Forwarded-*` headers of a request are trusted, or a function that decides this for each request. */
export type TrustProxy = boolean | ((req: IncomingMessage) => boolean);

/** Properties that Express adds to a request and its application. */
interface ExpressRequest extends IncomingMessage {
  readonly baseUrl?: string;
  readonly app?: { get?(setting: string): unknown };
}

const HOST = /^[A-Za-z0-9._~%-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/;
const PREFIX = /^(\/[A-Za-z0-9._~%-]+)+$/;

/** Evaluates Express's `trust proxy` setting for the remote address of the connection. */
function expressTrusts(req: ExpressRequest): boolean {
  const trusts = req.app?.get?.('trust proxy fn');
  return typeof trusts === 'function' && trusts(req.socket.remoteAddress, 0) === true;
}

function firstItem(value: string | string[] | undefined): string | undefined {
  return value === undefined ? undefined : String(value).replace(/,.*/s, '').trim();
}

function localHost(req: IncomingMessage): string {
  const { localAddress = 'localhost', localPort } = req.socket;
  const host = localAddress.includes(':') ? `[${localAddress}]` : localAddress;
  return localPort === undefined ? host : `${host}:${localPort}`;
}

/**
 * Returns the URL of this API as the client sees it, without a trailing slash: scheme, host and mount path. If the proxy is
 * trusted, `X-Forwarded-Proto` and `-Host` replace the scheme and host of the request, and `-Prefix` precedes the mount
 * path. Malformed values are ignored. Default of `trustProxy`: Express's `trust proxy` setting, false without Express.
 */
export function requestBase(req: IncomingMessage, trustProxy?: TrustProxy): string {
  const trusted =
    trustProxy === undefined ? expressTrusts(req) : typeof trustProxy === 'function' ? trustProxy(req) : trustProxy;
  const forwarded = (name: string) => (trusted ? firstItem(req.headers[`x-forwarded-${name}`]) : undefined);
  const proto = forwarded('proto')?.toLowerCase();
  const scheme = proto === 'http' || proto === 'https' ? proto : (req.socket as TLSSocket).encrypted ? 'https' : 'http';
  const host = [forwarded('host'), req.headers.host].find((text) => text !== undefined && HOST.test(text));
  const prefix = forwarded('prefix')?.replace(/\/+$/, '') ?? '';
  const mount = (req as ExpressRequest).baseUrl ?? '';
  return `${scheme}://${host ?? localHost(req)}${PREFIX.test(prefix) ? prefix : ''}${mount.replace(/\/+$/, '')}`;
}
