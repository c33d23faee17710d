import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import type { ResourceSpec } from '../service/resource.js';
import { badRequest, conflict, forbidden, notFound } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { tokenDomain } from './delegation.js';
import { DEFAULT_DOMAIN } from './directory.js';

/** Returns the ID of the domain of new records that name none. */
export const domainOfNewRecords = (call: Call) => tokenDomain(call) ?? DEFAULT_DOMAIN;

const isImmutable = ({ options }: Doc) => (options as { readonly immutable?: unknown } | undefined)?.immutable === true;

const immutableError = (verb: string, one: string, id: string) =>
  forbidden(`Unable to ${verb} immutable ${one} resource: \`${id}. Set resource option "immutable" to false first.`);

/** Rejects a change to an immutable record, unless the change only makes the record mutable. */
function rejectImmutable(one: string, { id }: Doc, change: Wire): void {
  const { immutable: option } = (change.options ?? {}) as { readonly immutable?: boolean | null };
  if (Object.keys(change).length > 1 || option === undefined || option === true)
    throw immutableError('update', one, id);
}

/** Rejects a name that another record in the same domain already has. */
export function rejectDuplicates(call: Call, many: string, one: string, requested: Wire, except?: string): void {
  const table = call.cloud.documents.table<Doc>(`identity/${many}`);
  const isNameUsed = [...table.values()].some(
    (other) => other.name === requested.name && other.domain_id === requested.domain_id && other.id !== except,
  );
  const domain = requested.domain_id ? ` at domain ID ${requested.domain_id}` : '';
  if (isNameUsed)
    throw conflict(
      `Conflict occurred attempting to store ${one} - Duplicate entry found with name ${requested.name}${domain}.`,
    );
}

function requireDomain({ cloud }: Call, id: unknown): void {
  if (typeof id === 'string' && !cloud.directory.state.domains.has(id)) throw notFound(`Could not find domain: ${id}.`);
}

/** Throws if a record cannot be deleted because it is immutable. */
export function requireMutable(one: string, doc: Doc): void {
  if (isImmutable(doc)) throw immutableError('delete', one, doc.id);
}

/** Returns the hooks for a resource whose names are unique within a domain. */
export function uniqueNameHooks(many: string, one: string): Pick<ResourceSpec, 'creating' | 'changing' | 'removing'> {
  return {
    creating: (call, doc) => {
      requireDomain(call, doc.domain_id);
      rejectDuplicates(call, many, one, doc);
      return undefined;
    },
    changing: (call, before, change) => {
      if (isImmutable(before)) rejectImmutable(one, before, change);
      if (change.domain_id !== undefined && change.domain_id !== before.domain_id)
        throw badRequest('Cannot change Domain ID');
      if (change.name !== undefined) rejectDuplicates(call, many, one, { ...before, ...change }, before.id);
      if (change.enabled === false) call.cloud.directory.revokeAccess(before.id);
      return change.options === undefined ? undefined : { options: mergedOptions(before.options, change.options) };
    },
    removing(call, doc) {
      requireMutable(one, doc);
      call.cloud.directory.removeReferencesTo(doc.id);
    },
  };
}

/** Merges changed options into the previous options. A null value removes an option. */
function mergedOptions(before: unknown, change: unknown): Wire {
  const merged = { ...(before as Wire), ...(change as Wire) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}
