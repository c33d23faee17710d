import { request as httpRequest } from 'node:http';
import { type Duplex, Readable } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import { EngineError } from '../../errors/engine-error.js';
import type { HostProcess } from '../../model/index.js';
import { type MachineCallResult, resultValue } from '../machine-call.js';
import { type LinkCredentials, linkTlsOptions } from './link-security.js';
import { BYTES_CONTENT_TYPE, CALL_HEADER, readJson, UPGRADE_PROTOCOL } from './message.js';

/** Thrown if a host cannot be reached, because it is down or the network between the processes fails. */
export class HostUnreachable extends EngineError<'HOST_UNREACHABLE'> {
  constructor(host: string, reason: string, options?: ErrorOptions) {
    super('HOST_UNREACHABLE', `the host ${host} cannot be reached: ${reason}`, options);
  }
}

type LinkAddress = NonNullable<HostProcess['link']>;

/** Dependencies of a `HostLinkClient`. */
export interface HostLinkClientOptions {
  /** Returns the credentials for links to a host. */
  readonly credentials: (host: string, link: LinkAddress) => LinkCredentials;
  /** Finds the link address of a host; undefined if the host accepts no links. */
  readonly find: (host: string) => Promise<LinkAddress | undefined>;
}

interface ExchangeOptions {
  /** Whether to request a bidirectional connection instead of a response. */
  readonly connects?: boolean;
  /** Called if the host reports that it has accepted the request and continues to process it. */
  readonly onProcessing?: (() => void) | undefined;
}

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;

/** Sends requests to hosts, each over its own link. */
export class HostLinkClient {
  readonly #options: HostLinkClientOptions;

  constructor(options: HostLinkClientOptions) {
    this.#options = options;
  }

  /**
   * Sends a request and returns the value of the response.
   *
   * @param onProcessing called if the host reports that it continues to process the request
   * @throws HostUnreachable, errors of the host, and the signal's reason
   */
  async request(host: string, request: unknown, signal: AbortSignal, onProcessing?: () => void): Promise<unknown> {
    const received = await this.#send(host, request, signal, { onProcessing });
    if (!(received instanceof Readable)) return resultValue(received);
    received.destroy();
    throw new Error(`the host ${host} sent bytes instead of a value`);
  }

  /**
   * Sends a request and returns the bytes of the response. The stream fails if the response is incomplete.
   *
   * @throws HostUnreachable, errors of the host, and the signal's reason
   */
  async read(host: string, request: unknown, signal: AbortSignal): Promise<Readable> {
    return expectStream(host, await this.#send(host, request, signal, {}));
  }

  /**
   * Opens a connection in both directions.
   *
   * @throws HostUnreachable, errors of the host, and the signal's reason
   */
  async connect(host: string, request: unknown, signal: AbortSignal): Promise<Duplex> {
    return expectStream(host, await this.#send(host, request, signal, { connects: true })) as Duplex;
  }

  async #send(host: string, request: unknown, signal: AbortSignal, options: ExchangeOptions): Promise<ReceivedResult> {
    signal.throwIfAborted();
    const link = await this.#options.find(host);
    // If a signal is already aborted, its listeners are never called.
    signal.throwIfAborted();
    if (!link) throw new HostUnreachable(host, 'the host does not accept links');
    const socket = await this.#connect(host, link, signal);
    const destroySocket = () => socket.destroy(signal.reason);
    signal.addEventListener('abort', destroySocket, { once: true });
    try {
      return await exchange(socket, request, options);
    } catch (cause) {
      socket.destroy();
      signal.throwIfAborted();
      throw new HostUnreachable(host, (cause as Error).message, { cause });
    } finally {
      signal.removeEventListener('abort', destroySocket);
    }
  }

  async #connect(host: string, link: LinkAddress, signal: AbortSignal): Promise<TLSSocket> {
    const { address, port } = link;
    const credentials = this.#options.credentials(host, link);
    const socket = connect({
      ...linkTlsOptions,
      host: address,
      port,
      pskCallback: () => credentials,
      checkServerIdentity: () => undefined,
    });
    socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
    const abortSignal = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)]);
    try {
      await new Promise<void>((resolve, reject) => {
        abortSignal.addEventListener('abort', () => reject(new Error('the host does not respond')), { once: true });
        socket.once('secureConnect', resolve).once('error', reject);
      });
    } catch (cause) {
      socket.destroy();
      signal.throwIfAborted();
      throw new HostUnreachable(host, (cause as Error).message, { cause });
    }
    // An error also closes the stream, and the reader of the stream detects that.
    socket.on('error', () => {});
    return socket;
  }
}

/** The response of a host: a value, an error, or a stream. */
type ReceivedResult = MachineCallResult | Readable;

function expectStream(host: string, received: ReceivedResult): Readable {
  if (received instanceof Readable) return received;
  resultValue(received);
  throw new Error(`the host ${host} sent a value instead of bytes`);
}

/** Sends a request over a new link, and waits for the response. */
function exchange(
  socket: TLSSocket,
  call: unknown,
  { connects: isConnection, onProcessing }: ExchangeOptions,
): Promise<ReceivedResult> {
  const serializedCall = JSON.stringify(call);
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      createConnection: () => socket,
      method: isConnection ? 'GET' : 'POST',
      headers: isConnection
        ? { connection: 'Upgrade', upgrade: UPGRADE_PROTOCOL, [CALL_HEADER]: encodeURIComponent(serializedCall) }
        : { 'content-type': 'application/json' },
    });
    request.on('error', reject);
    request.on('information', () => onProcessing?.());
    request.once('upgrade', (_response, stream: Duplex, firstBytes: Buffer) => {
      if (firstBytes.length > 0) stream.unshift(firstBytes);
      resolve(stream);
    });
    request.once('response', (response) => {
      if (response.headers['content-type'] === BYTES_CONTENT_TYPE) resolve(response);
      else readJson(response).then((result) => resolve(result as MachineCallResult), reject);
    });
    request.end(isConnection ? undefined : serializedCall);
  });
}
