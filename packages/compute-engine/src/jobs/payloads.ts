import type { Context } from '../core/context.js';
import type { TraceContext } from '../observation/observer.js';
import type { Sealer } from '../secrets/sealer.js';

/** The input of a job. */
export interface JobPayload {
  readonly context: Context;
  readonly arguments: Readonly<Record<string, any>>;
  /** The trace to which the job belongs. */
  readonly traceContext?: TraceContext;
}

/** A payload as read from the database. */
export interface ReadPayload {
  readonly payload: JobPayload;
  /** Why the sealed part of the payload cannot be read: its arguments are empty, and its caller has no token. */
  readonly unreadable?: Error;
}

/** The stored form of a payload. The caller and the request id are readable by everyone with access to the database. */
interface Written {
  readonly context: JobPayload['context'];
  readonly traceContext?: TraceContext;
  /** As sealed JSON: the arguments (which may contain passwords and files) and the caller's token. */
  readonly sealed?: string;
  /** Used instead if nothing is sealed. */
  readonly arguments?: JobPayload['arguments'];
}

interface Secrets {
  readonly arguments?: JobPayload['arguments'];
  readonly token?: string;
}

/** Serializes and parses job payloads. Secret parts are sealed. */
export class Payloads {
  readonly #sealer: Sealer | undefined;
  readonly #keepTokens: boolean;

  /**
   * @param sealer undefined: nothing is sealed, as for a database in memory
   * @param options.keepTokens whether to store tokens of callers: only services that are called on behalf of the caller
   * need them
   */
  constructor(sealer: Sealer | undefined, options: { readonly keepTokens: boolean }) {
    this.#sealer = sealer;
    this.#keepTokens = options.keepTokens;
  }

  /**
   * @param id of the job; the sealed part is bound to it
   */
  write(id: string, { context, arguments: given, traceContext }: JobPayload): string {
    const { token, ...caller } = context.caller;
    const known = { ...context, caller };
    const secrets: Secrets = {
      ...(Object.keys(given).length > 0 && { arguments: given }),
      ...(this.#keepTokens && token !== undefined && { token }),
    };
    if (Object.keys(secrets).length === 0) return JSON.stringify({ context: known, traceContext } satisfies Written);
    if (this.#sealer) {
      const sealed = this.#sealer.seal(JSON.stringify(secrets), id);
      return JSON.stringify({ context: known, traceContext, sealed } satisfies Written);
    }
    const full = secrets.token === undefined ? known : context;
    return JSON.stringify({ context: full, traceContext, arguments: given } satisfies Written);
  }

  read(id: string, text: string): ReadPayload {
    const { context, traceContext, sealed, arguments: plain = {} }: Written = JSON.parse(text);
    if (sealed === undefined) return { payload: { context, traceContext, arguments: plain } };
    try {
      if (!this.#sealer) throw new Error('the payload of the job is encrypted, and the secret key is missing');
      const { token, arguments: opened = {} }: Secrets = JSON.parse(this.#sealer.open(sealed, id));
      const caller = token === undefined ? context.caller : { ...context.caller, token };
      return { payload: { context: { ...context, caller }, traceContext, arguments: opened } };
    } catch (error) {
      return { payload: { context, traceContext, arguments: {} }, unreadable: error as Error };
    }
  }
}
