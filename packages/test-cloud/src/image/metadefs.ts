import type { Call } from '../service/call.js';
import { conflict, forbidden, notFound, type ServiceError } from '../service/service-error.js';
import { formatSeconds } from '../service/times.js';
import type { Wire } from '../service/wire.js';
import type { MetadefKind } from './metadef-schemas.js';
import { requirePolicy } from './policies.js';

/** The kinds of definitions in a metadata definition namespace. */
export type Kind = Exclude<MetadefKind, 'namespaces'>;
export type NamespaceParts = Readonly<Record<string, Wire>>;

/** A metadata definition namespace, with its definitions by kind and name. */
export interface Namespace {
  readonly namespace: string;
  readonly visibility: 'public' | 'private';
  readonly protected: boolean;
  readonly owner: string;
  readonly parts: Readonly<Record<Kind, NamespaceParts>>;
  readonly [field: string]: unknown;
}

/** The terms for a kind of definition in policies and messages. */
interface KindTerms {
  /** The policies for changing, adding and removing a definition. */
  readonly policies: { readonly add: string; readonly modify: string; readonly remove: string };
  readonly missing: (name: string, namespace: string) => string;
  readonly duplicate: (name: string, namespace: string) => string;
  readonly title: string;
}

const policiesOf = (name: string, remove = 'delete') => ({
  add: `add_metadef_${name}`,
  modify: `modify_metadef_${name}`,
  remove: `${remove}_metadef_${name}`,
});
const termsOf = (title: string, remove?: string): KindTerms => ({
  title,
  policies: policiesOf(title, remove),
  missing: (name, namespace) =>
    `The metadata definition ${title} with name=${name} was not found in namespace=${namespace}.`,
  duplicate: (name, namespace) =>
    `A metadata definition ${title} with name=${name} already exists in namespace=${namespace}.`,
});

export const KIND_TERMS: Readonly<Record<Kind, KindTerms>> = {
  objects: termsOf('object'),
  properties: termsOf('property', 'remove'),
  tags: {
    ...termsOf('tag'),
    duplicate: (name, namespace) =>
      `A metadata tag with name=${name} already exists in namespace=${namespace}. (Please note that metadata tag names are case insensitive).`,
  },
  resource_types: {
    title: 'resource-type-association',
    policies: policiesOf('resource_type_association', 'remove'),
    missing: (name) => `Failed to find resource type ${name} to delete`,
    duplicate: (name, namespace) =>
      `The metadata definition resource-type association of resource-type=${name} to namespace=${namespace} already exists.`,
  },
};

export const ROOT = '/v2/metadefs/namespaces';
export const table = ({ cloud }: Call) => cloud.documents.table<Namespace>('image/metadefs');
const now = (call: Call) => formatSeconds(call.cloud.clock.now());

/** Returns `created_at` and `updated_at` of a record. A replacement keeps the creation time of the previous record. */
export const timestampsOf = (call: Call, before?: Wire) => ({
  created_at: before?.created_at ?? now(call),
  updated_at: now(call),
});

export const isVisible = (call: Call, { visibility, owner }: Namespace) =>
  call.isAdmin || (call.hasRole('reader') && (visibility === 'public' || owner === call.caller.projectId));

export const namespaceNotFound = (name: string): ServiceError =>
  notFound(`Metadata definition namespace=${name} was not found.`);

/** Returns the namespace in the path. Throws a 404 error if the caller cannot see the namespace. */
export function findNamespace(call: Call): Namespace {
  const name = call.param('namespace');
  const foundNamespace = table(call).get(name);
  if (foundNamespace && isVisible(call, foundNamespace)) return foundNamespace;
  throw /\/objects|namespaces\/[^/]*$/.test(call.req.path) && call.req.method === 'GET'
    ? namespaceNotFound(name)
    : notFound(`Namespace ${name} not found`);
}

/** Returns the namespace in the path if a policy allows the caller to change it. */
export function findChangeableNamespace(call: Call, policy: string): Namespace {
  const namespace = findNamespace(call);
  requirePolicy(call, policy);
  return namespace;
}

/** Throws a 403 error if a namespace is protected. */
export function checkUnprotected(namespace: Namespace, title = 'namespace', name = namespace.namespace): void {
  if (namespace.protected) throw forbidden(`Metadata definition ${title} ${name} is protected and cannot be deleted.`);
}

/** Returns a definition in a namespace. Throws a 404 error if the namespace does not contain it. */
export function partOf({ namespace, parts }: Namespace, kind: Kind, name: string): Wire {
  const part = Object.hasOwn(parts[kind], name) ? parts[kind][name] : undefined;
  if (part) return part;
  throw notFound(KIND_TERMS[kind].missing(name, namespace));
}

/** Replaces all definitions of one kind in a namespace. */
export function writeParts(call: Call, namespace: Namespace, kind: Kind, parts: NamespaceParts): void {
  table(call).set(namespace.namespace, { ...namespace, parts: { ...namespace.parts, [kind]: parts } });
}

/** Adds definitions to a map of definitions by name. Throws a 409 error for a name that already exists. */
export function addParts(
  call: Call,
  namespace: string,
  kind: Kind,
  parts: NamespaceParts,
  requested: readonly (readonly [name: string, part: Wire])[],
): NamespaceParts {
  const combined = new Map(Object.entries(parts));
  for (const [name, part] of requested) {
    if (combined.has(name)) throw conflict(KIND_TERMS[kind].duplicate(name, namespace));
    combined.set(name, { ...part, ...timestampsOf(call) });
  }
  return Object.fromEntries(combined);
}

/** Returns all definitions except the one with the given name. */
export function withoutPart(parts: NamespaceParts, name: string): NamespaceParts {
  const { [name]: _, ...others } = parts;
  return others;
}
