import type { Context } from '../core/context.js';
import type { TraceContext } from '../observation/observer.js';
import type { Sealer } from '../secrets/sealer.js';

/** The input of a background job. */
export interface JobPayload {
  readonly context: Context;
  readonly arguments: Readonly<Record<string, any>>;
  /** The trace to which the job belongs. */
  readonly traceContext?: TraceContext;
}

/** A payload as read from the database. */
export interface DecodedPayload {
  readonly payload: JobPayload;
  /**
   * The error if the encrypted part of the payload cannot be decrypted. In that case, the arguments are empty, and the
   * caller has no token.
   */
  readonly unreadable?: Error;
}

/** The stored form of a payload. The caller and the request id are readable by everyone with access to the database. */
interface StoredPayload {
  readonly context: JobPayload['context'];
  readonly traceContext?: TraceContext;
  /** Encrypted JSON with the arguments (which may contain passwords and files) and the caller's token. */
  readonly sealed?: string;
  /** The arguments in plain text, if the payload is not encrypted. */
  readonly arguments?: JobPayload['arguments'];
}

interface PayloadSecrets {
  readonly arguments?: JobPayload['arguments'];
  readonly token?: string;
}

/** Serializes and parses job payloads. Secret parts are encrypted. */
export class Payloads {
  readonly #sealer: Sealer | undefined;
  readonly #keepTokens: boolean;

  /**
   * @param sealer undefined disables encryption, as for a database in memory
   * @param options.keepTokens whether to store caller tokens, which are needed only for services that are called
   * on behalf of the caller
   */
  constructor(sealer: Sealer | undefined, options: { readonly keepTokens: boolean }) {
    this.#sealer = sealer;
    this.#keepTokens = options.keepTokens;
  }

  /**
   * Serializes a payload.
   *
   * @param id the id of the job, to which the encrypted part is bound
   */
  write(id: string, { context, arguments: jobArguments, traceContext }: JobPayload): string {
    const { token, ...caller } = context.caller;
    const contextWithoutToken = { ...context, caller };
    const secrets: PayloadSecrets = {
      ...(Object.keys(jobArguments).length > 0 && { arguments: jobArguments }),
      ...(this.#keepTokens && token !== undefined && { token }),
    };
    if (Object.keys(secrets).length === 0)
      return JSON.stringify({ context: contextWithoutToken, traceContext } satisfies StoredPayload);
    if (this.#sealer) {
      const sealed = this.#sealer.seal(JSON.stringify(secrets), id);
      return JSON.stringify({ context: contextWithoutToken, traceContext, sealed } satisfies StoredPayload);
    }
    const storedContext = secrets.token === undefined ? contextWithoutToken : context;
    return JSON.stringify({ context: storedContext, traceContext, arguments: jobArguments } satisfies StoredPayload);
  }

  read(id: string, text: string): DecodedPayload {
    const { context, traceContext, sealed, arguments: plainArguments = {} }: StoredPayload = JSON.parse(text);
    if (sealed === undefined) return { payload: { context, traceContext, arguments: plainArguments } };
    try {
      if (!this.#sealer) throw new Error('the job payload is encrypted, and the secret key is missing');
      const { token, arguments: decryptedArguments = {} }: PayloadSecrets = JSON.parse(this.#sealer.open(sealed, id));
      const caller = token === undefined ? context.caller : { ...context.caller, token };
      return { payload: { context: { ...context, caller }, traceContext, arguments: decryptedArguments } };
    } catch (error) {
      return { payload: { context, traceContext, arguments: {} }, unreadable: error as Error };
    }
  }
}
