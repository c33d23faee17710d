import { connect, type TLSSocket } from 'node:tls';
import type { OpenLink } from '../../drivers/host-links.js';
import { EngineError } from '../../errors/engine-error.js';
import type { HostProcess } from '../../model/index.js';
import type { Key } from '../../secrets/sealer.js';
import { answerValue } from '../host-question.js';
import { linkLine, readLinkLine } from './link-line.js';
import { linkSecurity } from './link-security.js';

/** A host that another process cannot speak to: it is away, or the network between them is closed. */
export class HostUnreachable extends EngineError<'HOST_UNREACHABLE'> {
  constructor(host: string, why: string, options?: ErrorOptions) {
    super('HOST_UNREACHABLE', `the host ${host} cannot be reached: ${why}`, options);
  }
}

export interface HostCallerOptions {
  readonly keys: readonly [Key, ...Key[]];
  /** Where a host is; undefined for one that has no door. */
  readonly find: (host: string) => Promise<HostProcess['link']>;
}

const CONNECT_MS = 10_000;
const ALIVE_MS = 10_000;

/** Asks hosts over links of their own, one for each question. */
export class HostCaller {
  readonly #options: HostCallerOptions;

  constructor(options: HostCallerOptions) {
    this.#options = options;
  }

  /** @throws HostUnreachable, what was thrown there, and the signal's reason */
  async ask(host: string, question: unknown, signal: AbortSignal): Promise<OpenLink> {
    signal.throwIfAborted();
    const place = await this.#options.find(host);
    if (!place) throw new HostUnreachable(host, 'it is no process that others can ask');
    const socket = await this.#connect(host, place, signal);
    try {
      socket.write(linkLine(question));
      const answer = await readLinkLine(socket, signal).catch((cause) => {
        signal.throwIfAborted();
        throw new HostUnreachable(host, cause.message, { cause });
      });
      return { value: answerValue(answer), stream: socket };
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  async #connect(
    host: string,
    { address, port }: NonNullable<HostProcess['link']>,
    signal: AbortSignal,
  ): Promise<TLSSocket> {
    const [{ id, bytes }] = this.#options.keys;
    const socket = connect({
      ...linkSecurity,
      host: address,
      port,
      pskCallback: () => ({ psk: bytes, identity: id }),
      checkServerIdentity: () => undefined,
    });
    socket.setNoDelay(true).setKeepAlive(true, ALIVE_MS);
    const late = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]);
    try {
      await new Promise<void>((resolve, reject) => {
        late.addEventListener('abort', () => reject(new Error('it does not answer')), { once: true });
        socket.once('secureConnect', resolve).once('error', reject);
      });
    } catch (cause) {
      socket.destroy();
      signal.throwIfAborted();
      throw new HostUnreachable(host, (cause as Error).message, { cause });
    }
    // Whoever reads the stream sees that it has closed.
    socket.on('error', () => {});
    return socket;
  }
}
