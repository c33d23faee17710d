import type { Server } from '@apistrata/compute-engine';
import type { DriverVerb, DriverWork } from '@apistrata/compute-engine/drivers';
import type { Host } from '../host.js';

/** The work type of a driver operation. Several operations can have the same type. */
type WorkOf<Verb extends DriverVerb, Work = DriverWork> = Work extends { readonly verb: infer Verbs }
  ? Verb extends Verbs
    ? Work
    : never
  : never;

/** A request to execute a driver operation on a server's machine. */
export interface OperationRequest<Verb extends DriverVerb> {
  readonly host: Host;
  readonly work: WorkOf<Verb>;
  readonly server: Server;
  readonly signal: AbortSignal;
}

/** Implementations of driver operations. Operations without one are unsupported. */
export type DriverOperations = { readonly [Verb in DriverVerb]?: (request: OperationRequest<Verb>) => Promise<void> };
