import type { Server } from '@apistrata/compute-engine';
import type { DriverVerb, DriverWork } from '@apistrata/compute-engine/drivers';
import type { Host } from '../host.js';

/** The work that a verb stands for; several verbs may be told the same. */
type WorkOf<Verb extends DriverVerb, Work = DriverWork> = Work extends { readonly verb: infer Verbs }
  ? Verb extends Verbs
    ? Work
    : never
  : never;

/** A piece of work on the machine of a server. */
export interface Order<Verb extends DriverVerb> {
  readonly host: Host;
  readonly work: WorkOf<Verb>;
  readonly server: Server;
  readonly signal: AbortSignal;
}

/** How verbs are done. What is not there cannot be done here. */
export type Verbs = { readonly [Verb in DriverVerb]?: (order: Order<Verb>) => Promise<void> };
