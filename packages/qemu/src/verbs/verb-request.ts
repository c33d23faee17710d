import type { Server } from '@apistrata/compute-engine';
import type { DriverVerb, DriverWork } from '@apistrata/compute-engine/drivers';
import type { Host } from '../host.js';

/** The work of a verb; several verbs may share a work type. */
type WorkOf<Verb extends DriverVerb, Work = DriverWork> = Work extends { readonly verb: infer Verbs }
  ? Verb extends Verbs
    ? Work
    : never
  : never;

/** Work on the machine of a server. */
export interface VerbRequest<Verb extends DriverVerb> {
  readonly host: Host;
  readonly work: WorkOf<Verb>;
  readonly server: Server;
  readonly signal: AbortSignal;
}

/** Implementations of verbs. Missing verbs are unsupported. */
export type Verbs = { readonly [Verb in DriverVerb]?: (request: VerbRequest<Verb>) => Promise<void> };
