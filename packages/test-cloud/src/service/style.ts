import type { Call } from './call.js';
import type { Doc } from './documents.js';
import type { Wire } from './listing.js';
import type { Resource } from './resource.js';
import type { ServiceError } from './service-error.js';

export type Verb = 'list' | 'show' | 'create' | 'change' | 'remove';

/** What the resources of one service have in common: its envelopes, statuses, lists and errors. */
export interface Style {
  readonly service: string;
  /** What all its paths begin with: `/v2.0`. */
  readonly root: string;
  /** The method that changes a resource. */
  readonly change: 'put' | 'patch';
  readonly statuses: { readonly create: number; readonly remove: number };
  readonly newId: () => string;
  /** What happens to a field that no resource of the kind has. */
  readonly unknownFields: 'refuse' | 'ignore' | 'keep';
  /** Whether several may be made at once, in an envelope of the plural. */
  /** Whether bodies come without an envelope that names the resource. */
  readonly bare?: true;
  /** What happens to a field that clients do not set. */
  readonly readOnlyFields: 'refuse' | 'ignore';
  readonly bulk: boolean;
  /** Verbs that only administrators have, unless a resource says otherwise. */
  readonly admin: readonly Verb[];
  /** Called for whoever wants to read or to change a resource; throws what this service says to others. */
  readonly authorize: (call: Call, resource: Resource, verb: Verb, doc: Doc | undefined) => void;
  /** Throws unless the caller may set these fields. */
  readonly authorizeFields: (call: Call, resource: Resource, verb: Verb, given: Wire) => void;
  /** What every record gets from the service itself: times, revisions, an owner. */
  readonly stamp: (call: Call, resource: Resource, doc: Wire, before: Doc | undefined) => Wire;
  /** The last touch on what is shown. */
  readonly show: (call: Call, resource: Resource, wire: Wire) => Wire;
  /** The body of a list: narrowed, sorted, one page. */
  readonly list: (call: Call, resource: Resource, items: readonly Wire[]) => unknown;
  /** Whether `.../detail` lists everything where the plain list is short. */
  readonly detailedLists?: true;
  /** Returns the negotiated minor version, where the service has several. */
  readonly minor?: (call: Call) => number;
  /** Throws when the request was meant for another state of the resource. */
  readonly precondition?: (call: Call, resource: Resource, shown: Wire) => void;
  readonly errors: {
    readonly noBody: (resource: Resource) => ServiceError;
    readonly unknown: (resource: Resource, keys: readonly string[], verb: Verb) => ServiceError;
    readonly readOnly: (resource: Resource, key: string, verb: Verb) => ServiceError;
    readonly missing: (resource: Resource, key: string) => ServiceError;
    readonly invalid: (resource: Resource, key: string, value: unknown, reason: string) => ServiceError;
    readonly notFound: (resource: Resource, id: string, call: Call) => ServiceError;
  };
}
