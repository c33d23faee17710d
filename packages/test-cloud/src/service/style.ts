import type { z } from 'zod';
import type { Call } from './call.js';
import type { Doc } from './documents.js';
import type { Fields } from './field.js';
import type { ProjectRole } from './project-role.js';
import type { ServiceError } from './service-error.js';
import type { Storage } from './storage.js';
import type { Wire } from './wire.js';

export type Verb = 'list' | 'show' | 'create' | 'change' | 'remove';

/** The part of a resource specification that a service's conventions and the storage use. */
export interface ResourceNames {
  /** The path below the service's root, which may be nested: `floatingips/:floatingip_id/port_forwardings`. */
  readonly path: string;
  /** The singular and plural keys of resources in bodies. */
  readonly one: string;
  readonly many: string;
  /** The name of the resource type in error messages; default: derived from `one`. */
  readonly title?: string;
  /** The name of the resource type in policies; default: `one`. */
  readonly policyName?: string;
  /** The path parameters that identify the parent resource. */
  readonly within?: readonly string[];
  /** The storage for the records; default: the cloud's document store. */
  readonly storage?: Storage;
  /** The verbs for which the storage itself rejects callers of other projects. */
  readonly storageAuthorizes?: readonly Verb[];
  /** Creates initial records. Called before each access to the records, so it must be idempotent. */
  readonly seed?: (call: Call, table: Map<string, Doc>) => void;
  /** The verbs for which a caller without permission receives 404 for a missing record. Default: always 403. */
  readonly revealsMissing?: readonly Verb[];
  /** Whether a change to another project's shared record returns 404 instead of 403. */
  readonly hidesSharedOnChange?: true;
  /** The roles that verbs require. Default: `reader` to list and show resources, otherwise `member`. */
  readonly roles?: Partial<Readonly<Record<Verb, ProjectRole>>>;
  /** The names of filters, if they are not derived from the fields. */
  readonly filters?: readonly string[];
  /** Returns how requests with unknown fields are handled; default: as in the service's other resources. */
  readonly unknownFields?: (call: Call, verb: Verb) => Style['unknownFields'];
  /**
   * Whether the resource supports tags. `filters`: only filters are added, because the resource defines its own tag
   * routes.
   */
  readonly tags?: boolean | 'filters';
  /** Whether create requests are authorized before their body is validated. */
  readonly authorizesFirst?: true;
  /**
   * Which other changes wait while a resource is created or changed: all changes in the collection, only those of the
   * same resource, or none. Default: `collection`; for changing, `resource` if the storage itself rejects conflicts.
   */
  readonly serializedBy?: { readonly create?: 'none'; readonly change?: 'collection' | 'resource' };
}

/** The parts of a resource type that its service's conventions use. */
export interface ResourceType {
  readonly style: Style;
  readonly spec: ResourceNames;
  readonly fields: Fields;
  readonly title: string;
  /** The name of the resource type's table in the document store. */
  readonly table: string;
  /** The verbs that only administrators may use. */
  readonly admin: readonly Verb[];
  readonly isVisible: (call: Call, doc: Doc) => boolean;
}

/** A service's conventions for envelopes, statuses, lists and errors. */
export interface Style {
  readonly service: string;
  /** The prefix of all resource paths, such as `/v2.0`. */
  readonly root: string;
  /** The HTTP method of change requests. */
  readonly change: 'put' | 'patch';
  readonly statuses: { readonly create: number; readonly remove: number };
  readonly newId: () => string;
  /** How unknown fields in requests are handled. */
  readonly unknownFields: 'reject' | 'ignore' | 'keep';
  /** How read-only fields in requests are handled. */
  readonly readOnlyFields: 'reject' | 'ignore';
  /** Whether bodies contain a resource's fields without an envelope. */
  readonly bare?: true;
  /** Whether a request can create several resources, in an envelope with the plural name. */
  readonly bulk: boolean;
  /** Whether change requests are authorized after their body is validated and the resource is found. */
  readonly authorizesLast?: true;
  /** The verbs that only administrators may use, unless a resource overrides them. */
  readonly admin: readonly Verb[];
  /**
   * Throws a service-specific error if the caller may not read or change a resource.
   *
   * @param policy the name of the policy in the error message; default: derived from the resource type and the verb
   */
  readonly authorize: (call: Call, resource: ResourceType, verb: Verb, doc: Doc | undefined, policy?: string) => void;
  /** Throws a service-specific error if the caller may not set these fields. */
  readonly authorizeFields: (call: Call, resource: ResourceType, verb: Verb, values: Wire) => void;
  /** Returns whether other projects may see a record. Default: the value of the record's field `shared`. */
  readonly isShared?: (call: Call, doc: Doc) => boolean;
  /** Returns whether a record matches a list's filters by fields that the caller cannot see. Default: true. */
  readonly matchesHiddenFields?: (call: Call, resource: ResourceType, doc: Doc) => boolean;
  /** Returns the fields that the service itself sets, such as times, revisions and the owner. */
  readonly stamp: (call: Call, resource: ResourceType, doc: Wire, before: Doc | undefined) => Wire;
  /** Returns the final wire format of a resource for a response. */
  readonly show: (call: Call, resource: ResourceType, wire: Wire) => Wire;
  /** Returns the body of a list response: filtered, sorted, and restricted to one page. */
  readonly list: (call: Call, resource: ResourceType, items: readonly Wire[]) => unknown;
  /** Selects the fields that the query string names, if the service supports this. */
  readonly selected?: (call: Call, wire: Wire) => Wire;
  /** Whether lists contain only some fields, and `.../detail` contains all fields. */
  readonly detailedLists?: true;
  /** Returns the negotiated minor version, if the service has several. */
  readonly minor?: (call: Call) => number;
  /** Throws a service-specific error if the resource does not meet a precondition in the request. */
  readonly precondition?: (call: Call, resource: ResourceType, shown: Wire) => void;
  /** Returns the reason why a value is invalid, if the schema of the field does not state one. */
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
