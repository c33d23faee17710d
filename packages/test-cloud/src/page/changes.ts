import type { JournalEntry, JournalHead } from '../front/journal.js';
import { urlPath } from '../url-path.js';

type Thing = Readonly<Record<string, unknown>> & { readonly id: string };

/** A field that is not what it was. */
export interface FieldChange {
  /** `status`, `addresses.private.0.addr`. */
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** What is known to have become of the thing that a request is about. */
export interface ThingChange {
  readonly id: string;
  readonly kind: 'made' | 'removed' | 'changed' | 'unchanged' | 'unknown';
  /** Numbers of the requests whose answers are compared: the last one before, and this one or the first one after. */
  readonly before?: number;
  readonly after?: number;
  readonly fields: readonly FieldChange[];
}

/** What of the journal is read here. */
export interface ReadJournal {
  latest(count: number, query: { readonly text: string }): readonly JournalHead[];
  get(number: number): JournalEntry | undefined;
}

const ID = /[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** Answers that are looked through for the same thing. */
const MOST_ANSWERS = 200;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isThing = (value: unknown): value is Thing => isObject(value) && typeof value.id === 'string';

/** What an answer tells of: `{ server: {...} }`, an image without such a key, or those of a list. */
function thingsIn(body: unknown): readonly Thing[] {
  if (isThing(body)) return [body];
  if (!isObject(body)) return [];
  return Object.values(body).flatMap((value) =>
    Array.isArray(value) ? value.filter(isThing) : isThing(value) ? [value] : [],
  );
}

function thingIn({ status, responseBody }: JournalEntry, id: string): Thing | undefined {
  return status >= 200 && status < 300 ? thingsIn(responseBody).find((thing) => thing.id === id) : undefined;
}

/** The fields that differ, of those that both sides tell; inside objects and lists too. */
function differences(before: unknown, after: unknown, field = ''): FieldChange[] {
  if (Object.is(before, after)) return [];
  const inside = (key: string) => (field ? `${field}.${key}` : key);
  if (isObject(before) && isObject(after)) {
    // At the top a shorter view of the same thing has fewer fields, which is no change.
    const names = Object.keys(field ? { ...before, ...after } : before).filter((name) => field || name in after);
    return names.flatMap((name) => differences(before[name], after[name], inside(name)));
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, i) => differences(before[i], after[i], inside(String(i)))).flat();
  }
  return [{ field, before, after }];
}

/** The thing that a request is about: what its answer shows alone, or whose id stands last in its path. */
function subjectOf({ url, method, responseBody, status }: JournalEntry): { id: string; made: boolean } | undefined {
  const inPath = urlPath(url).match(ID)?.at(-1);
  const [alone, another] = thingsIn(responseBody);
  const made = method === 'POST' && !!alone && !another && (status === 201 || status === 202 || status === 200);
  if (made && alone.id !== inPath) return { id: alone.id, made: !url.endsWith('/action') };
  if (alone && !another) return { id: alone.id, made: false };
  return inPath === undefined ? undefined : { id: inPath, made: false };
}

/**
 * What a request changed, as far as the journal tells: the last answer about the same thing before it is held against its
 * own, or against the first one after it. Undefined for requests that are about no single thing.
 */
export function changeBy(journal: ReadJournal, entry: JournalEntry): ThingChange | undefined {
  const subject = subjectOf(entry);
  if (!subject) return undefined;
  const { id, made } = subject;
  const others = journal
    .latest(MOST_ANSWERS, { text: id })
    .filter(({ number }) => number !== entry.number)
    .map(({ number }) => journal.get(number))
    .flatMap((other) => {
      const thing = other && thingIn(other, id);
      return thing ? [{ number: other.number, thing }] : [];
    });
  const own = thingIn(entry, id);
  const earlier = made ? undefined : others.find(({ number }) => number < entry.number);
  const later = own ? { number: entry.number, thing: own } : others.findLast(({ number }) => number > entry.number);
  const numbers = { before: earlier?.number, after: later?.number };
  if (entry.method === 'DELETE' && entry.status < 300) return { id, kind: 'removed', ...numbers, fields: [] };
  if (made) return { id, kind: 'made', ...numbers, fields: [] };
  if (!earlier || !later) return { id, kind: 'unknown', ...numbers, fields: [] };
  const fields = differences(earlier.thing, later.thing);
  return { id, kind: fields.length > 0 ? 'changed' : 'unchanged', ...numbers, fields };
}
