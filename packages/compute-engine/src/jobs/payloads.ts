import type { Context } from '../core/context.js';
import type { TraceContext } from '../observation/observer.js';
import type { Sealer } from '../secrets/sealer.js';

/** What a job needs to know. */
export interface JobPayload {
  readonly context: Context;
  readonly arguments: Readonly<Record<string, any>>;
  /** The trace that the work belongs to. */
  readonly traceContext?: TraceContext;
}

/** A payload as it comes back from the database. */
export interface ReadPayload {
  readonly payload: JobPayload;
  /** Why what is sealed of its payload cannot be read: it has no arguments, and its caller no token. */
  readonly unreadable?: Error;
}

/** What is written of a payload. Whose request it was, and which, can be read by anybody who can read the database. */
interface Written {
  readonly context: JobPayload['context'];
  readonly traceContext?: TraceContext;
  /** As JSON, sealed: what the request brought (passwords and files among it) and the caller's token. */
  readonly sealed?: string;
  /** In its place where nothing is sealed. */
  readonly arguments?: JobPayload['arguments'];
}

interface Secrets {
  readonly arguments?: JobPayload['arguments'];
  readonly token?: string;
}

/** Turns what jobs need to know into text and back. What is secret in it is sealed. */
export class Payloads {
  readonly #sealer: Sealer | undefined;
  readonly #keepTokens: boolean;

  /**
   * @param sealer left out: nothing is sealed, as for a database in memory
   * @param options.keepTokens whether tokens of callers are kept at all: only services that are spoken to in the
   *   caller's name ask for them
   */
  constructor(sealer: Sealer | undefined, options: { readonly keepTokens: boolean }) {
    this.#sealer = sealer;
    this.#keepTokens = options.keepTokens;
  }

  /** @param id of the job: what is sealed for one opens for no other */
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
    const whole = secrets.token === undefined ? known : context;
    return JSON.stringify({ context: whole, traceContext, arguments: given } satisfies Written);
  }

  read(id: string, text: string): ReadPayload {
    const { context, traceContext, sealed, arguments: plain = {} }: Written = JSON.parse(text);
    if (sealed === undefined) return { payload: { context, traceContext, arguments: plain } };
    try {
      if (!this.#sealer) throw new Error('what it needs to know is sealed, and there is no secret key');
      const { token, arguments: opened = {} }: Secrets = JSON.parse(this.#sealer.open(sealed, id));
      const caller = token === undefined ? context.caller : { ...context.caller, token };
      return { payload: { context: { ...context, caller }, traceContext, arguments: opened } };
    } catch (error) {
      return { payload: { context, traceContext, arguments: {} }, unreadable: error as Error };
    }
  }
}
