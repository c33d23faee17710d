import type { z } from 'zod';
import type { Call } from './call.js';
import type { Doc } from './documents.js';
import type { Fields } from './field.js';
import type { ServiceError } from './service-error.js';
import type { Storage } from './storage.js';
import type { Wire } from './wire.js';

export type Verb = 'list' | 'show' | 'create' | 'change' | 'remove';

/** The part of a specification that the conventions of a service and the storage use. */
export interface ResourceNames {
  /** Path below the root of the service; may be nested: `floatingips/:floatingip_id/port_forwardings`. */
  readonly path: string;
  /** The keys of one and of several resources in bodies. */
  readonly one: string;
  readonly many: string;
  /** The name in errors; default: derived from `one`. */
  readonly title?: string;
  /** Parameters of the path that identify the parent. */
  readonly within?: readonly string[];
  /** The storage of the records; default: the documents of the cloud. */
  readonly storage?: Storage;
  /** Verbs for which the storage itself rejects callers of other projects. */
  readonly storageAuthorizes?: readonly Verb[];
  /** Creates initial records. Called before every use; must be idempotent. */
  readonly seed?: (call: Call, table: Map<string, Doc>) => void;
  /** The verbs for which a caller without permission gets 404 for a missing record. Default: 403 in both cases. */
  readonly revealsMissing?: readonly Verb[];
  /** Names of filters, if they are not derived from the fields. */
  readonly filters?: readonly string[];
  /** How unknown fields are handled, if it differs from the service's default. */
  readonly unknownFields?: (call: Call, verb: Verb) => Style['unknownFields'];
  /** Whether the resource supports tags; `filters`: lists only, because it defines its own tag routes. */
  readonly tags?: boolean | 'filters';
  /** Whether a caller is authorized before the body of a creation is validated. */
  readonly authorizesFirst?: true;
}

/** The parts of a resource that the conventions of its service use. */
export interface ResourceType {
  readonly style: Style;
  readonly spec: ResourceNames;
  readonly fields: Fields;
  readonly title: string;
  /** The name of the resource's table in the documents. */
  readonly table: string;
  /** Verbs restricted to administrators. */
  readonly admin: readonly Verb[];
  readonly isVisible: (call: Call, doc: Doc) => boolean;
}

/** Conventions of a service: envelopes, statuses, lists and errors. */
export interface Style {
  readonly service: string;
  /** The start of all paths: `/v2.0`. */
  readonly root: string;
  /** The method that changes a resource. */
  readonly change: 'put' | 'patch';
  readonly statuses: { readonly create: number; readonly remove: number };
  readonly newId: () => string;
  /** The handling of unknown fields. */
  readonly unknownFields: 'reject' | 'ignore' | 'keep';
  /** The handling of read-only fields. */
  readonly readOnlyFields: 'reject' | 'ignore';
  /** Whether bodies have no envelope that names the resource. */
  readonly bare?: true;
  /** Whether one request can create several resources, in an envelope with the plural name. */
  readonly bulk: boolean;
  /** Whether a caller is authorized after the body of a change is validated and the resource is found. */
  readonly authorizesLast?: true;
  /** Verbs restricted to administrators, unless a resource overrides them. */
  readonly admin: readonly Verb[];
  /** Throws the service's error if the caller may not read or change a resource. */
  readonly authorize: (call: Call, resource: ResourceType, verb: Verb, doc: Doc | undefined) => void;
  /** Throws if the caller may not set these fields. */
  readonly authorizeFields: (call: Call, resource: ResourceType, verb: Verb, values: Wire) => void;
  /** Returns whether other projects may see a record. Default: its field `shared`. */
  readonly isShared?: (call: Call, doc: Doc) => boolean;
  /** Returns the fields that the service sets itself: times, revisions, an owner. */
  readonly stamp: (call: Call, resource: ResourceType, doc: Wire, before: Doc | undefined) => Wire;
  /** Returns the final form of a resource in a response. */
  readonly show: (call: Call, resource: ResourceType, wire: Wire) => Wire;
  /** Returns the body of a list: filtered, sorted, one page. */
  readonly list: (call: Call, resource: ResourceType, items: readonly Wire[]) => unknown;
  /** Selects the fields that the query names, if the service supports it. */
  readonly selected?: (call: Call, wire: Wire) => Wire;
  /** Whether lists are short and `.../detail` returns all fields. */
  readonly detailedLists?: true;
  /** Returns the negotiated minor version, if the service has several. */
  readonly minor?: (call: Call) => number;
  /** Throws if a precondition of the request does not match the resource. */
  readonly precondition?: (call: Call, resource: ResourceType, shown: Wire) => void;
  /** Returns the reason why a value is invalid, if its schema does not state one. */
  readonly reasons?: (issue: z.core.$ZodRawIssue) => string;
  readonly errors: {
    readonly noBody: (resource: ResourceType) => ServiceError;
    readonly unknown: (resource: ResourceType, keys: readonly string[], verb: Verb) => ServiceError;
    readonly readOnly: (resource: ResourceType, key: string, verb: Verb) => ServiceError;
    readonly missing: (resource: ResourceType, key: string) => ServiceError;
    readonly invalid: (resource: ResourceType, key: string, value: unknown, reason: string) => ServiceError;
    readonly notFound: (resource: ResourceType, id: string, call: Call, verb: Verb) => ServiceError;
  };
}
