import type { JournalEntry, JournalHead } from '../gateway/journal.js';
import { isObject } from '../service/wire.js';
import { urlPath } from '../url-path.js';

type Resource = Readonly<Record<string, unknown>> & { readonly id: string };

/** A change to a field's value. */
export interface FieldChange {
  /** The path of the field in the resource, such as `status` or `addresses.private.0.addr`. */
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** The effect of a request on a resource, as far as the journal shows it. */
export interface ResourceChange {
  readonly id: string;
  readonly kind: 'created' | 'removed' | 'changed' | 'unchanged' | 'unknown';
  /** Journal numbers of two responses: `before` is earlier than the request, `after` is its response or a later one. */
  readonly before?: number;
  readonly after?: number;
  readonly fields: readonly FieldChange[];
}

/** The journal methods that this module uses. */
export interface JournalReader {
  latest(count: number, query: { readonly text: string }): readonly JournalHead[];
  get(number: number): JournalEntry | undefined;
}

const ID = /[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** The maximum number of responses that are searched for an earlier or later state of the resource. */
const MAX_RESPONSES = 200;

const isResource = (value: unknown): value is Resource => isObject(value) && typeof value.id === 'string';

/** Returns the resources in a response: one resource with or without an envelope, or the items of a list. */
function resourcesIn(body: unknown): readonly Resource[] {
  if (isResource(body)) return [body];
  if (!isObject(body)) return [];
  return Object.values(body).flatMap((value) =>
    Array.isArray(value) ? value.filter(isResource) : isResource(value) ? [value] : [],
  );
}

function resourceIn({ status, responseBody }: JournalEntry, id: string): Resource | undefined {
  return status >= 200 && status < 300 ? resourcesIn(responseBody).find((resource) => resource.id === id) : undefined;
}

/** Returns the fields that differ, including nested ones. Ignores top-level fields that only one value has. */
function findFieldChanges(before: unknown, after: unknown, field = ''): FieldChange[] {
  if (Object.is(before, after)) return [];
  const nestedName = (key: string) => (field ? `${field}.${key}` : key);
  if (isObject(before) && isObject(after)) {
    // A shorter view of a resource lacks some top-level fields, which is not a change.
    const names = Object.keys(field ? { ...before, ...after } : before).filter((name) => field || name in after);
    return names.flatMap((name) => findFieldChanges(before[name], after[name], nestedName(name)));
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, i) => findFieldChanges(before[i], after[i], nestedName(String(i)))).flat();
  }
  return [{ field, before, after }];
}

/**
 * Returns the resource that a request concerns: the only one in the response, or else the one with the last id in the
 * path. `isCreation` is true if the request created the resource.
 */
function findSubject({
  url,
  method,
  responseBody,
  status,
}: JournalEntry): { id: string; isCreation: boolean } | undefined {
  const idInPath = urlPath(url).match(ID)?.at(-1);
  const [first, second] = resourcesIn(responseBody);
  const onlyResource = second ? undefined : first;
  const isCreation = method === 'POST' && !!onlyResource && (status === 201 || status === 202 || status === 200);
  if (isCreation && onlyResource.id !== idInPath) return { id: onlyResource.id, isCreation: !url.endsWith('/action') };
  if (onlyResource) return { id: onlyResource.id, isCreation: false };
  return idInPath === undefined ? undefined : { id: idInPath, isCreation: false };
}

/**
 * Returns the changes that a request made to a resource. Compares the latest earlier response with the request's own
 * response or the first later one. Returns undefined if the request does not concern exactly one resource.
 */
export function changeOfRequest(journal: JournalReader, entry: JournalEntry): ResourceChange | undefined {
  const subject = findSubject(entry);
  if (!subject) return undefined;
  const { id, isCreation } = subject;
  const otherResponses = journal
    .latest(MAX_RESPONSES, { text: id })
    .filter(({ number }) => number !== entry.number)
    .map(({ number }) => journal.get(number))
    .flatMap((other) => {
      const resource = other && resourceIn(other, id);
      return resource ? [{ number: other.number, resource }] : [];
    });
  const entryResource = resourceIn(entry, id);
  const earlierResponse = isCreation ? undefined : otherResponses.find(({ number }) => number < entry.number);
  const laterResponse = entryResource
    ? { number: entry.number, resource: entryResource }
    : otherResponses.findLast(({ number }) => number > entry.number);
  const journalNumbers = { before: earlierResponse?.number, after: laterResponse?.number };
  if (entry.method === 'DELETE' && entry.status < 300) return { id, kind: 'removed', ...journalNumbers, fields: [] };
  if (isCreation) return { id, kind: 'created', ...journalNumbers, fields: [] };
  if (!earlierResponse || !laterResponse) return { id, kind: 'unknown', ...journalNumbers, fields: [] };
  const fields = findFieldChanges(earlierResponse.resource, laterResponse.resource);
  return { id, kind: fields.length > 0 ? 'changed' : 'unchanged', ...journalNumbers, fields };
}
