import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

/** Whether the `X-Forwarded-*` headers of a request are trusted, or a function that decides this for each request. */
export type TrustProxy = boolean | ((req: IncomingMessage) => boolean);

/** Properties that Express adds to a request and its application. */
interface ExpressRequest extends IncomingMessage {
  readonly baseUrl?: string;
  readonly app?: { get?(setting: string): unknown };
}

const HOST_PATTERN = /^[A-Za-z0-9._~%-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/;
const PREFIX_PATTERN = /^(\/[A-Za-z0-9._~%-]+)+$/;

/** Evaluates Express's `trust proxy` setting for the remote address of the connection. */
function isTrustedByExpress(req: ExpressRequest): boolean {
  const trustFunction = req.app?.get?.('trust proxy fn');
  return typeof trustFunction === 'function' && trustFunction(req.socket.remoteAddress, 0) === true;
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
  const isTrusted =
    trustProxy === undefined
      ? isTrustedByExpress(req)
      : typeof trustProxy === 'function'
        ? trustProxy(req)
        : trustProxy;
  const forwardedValue = (name: string) => (isTrusted ? firstItem(req.headers[`x-forwarded-${name}`]) : undefined);
  const proto = forwardedValue('proto')?.toLowerCase();
  const scheme = proto === 'http' || proto === 'https' ? proto : (req.socket as TLSSocket).encrypted ? 'https' : 'http';
  const host = [forwardedValue('host'), req.headers.host].find((text) => text !== undefined && HOST_PATTERN.test(text));
  const prefix = forwardedValue('prefix')?.replace(/\/+$/, '') ?? '';
  const mountPath = (req as ExpressRequest).baseUrl ?? '';
  return `${scheme}://${host ?? localHost(req)}${PREFIX_PATTERN.test(prefix) ? prefix : ''}${mountPath.replace(/\/+$/, '')}`;
}
