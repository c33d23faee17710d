import type { Clock, Engine } from '@apistrata/compute-engine';
import type { EmbeddedCatalogs } from '@apistrata/compute-engine/catalogs';
import type { Unserved } from '../front/unserved.js';
import type { Directory } from '../identity/directory.js';
import type { Documents } from './documents.js';
import type { WhoCalls } from './stand-in.js';

/** The cloud that a request belongs to, as its services see it. */
export interface CloudContext {
  /** What services keep of their own. */
  readonly documents: Documents;
  /** The compute engine of now: another one after `reset` and `restore`. */
  readonly engine: Engine;
  /** Images, networks and volumes as compute uses them. */
  readonly catalogs: EmbeddedCatalogs;
  readonly directory: Directory;
  readonly clock: Clock;
  readonly whoCalls: WhoCalls;
  readonly unserved: Unserved;
  /** Told of errors that became a 500. */
  readonly onError: (error: unknown) => void;
}
