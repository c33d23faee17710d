import type { Call } from './call.js';

export type Wire = Readonly<Record<string, unknown>>;

const PAGING = new Set(['limit', 'marker', 'page_reverse', 'sort_key', 'sort_dir', 'sort', 'fields', 'offset']);

function sameValue(value: unknown, wanted: string): boolean {
  if (typeof value === 'boolean') return String(value) === wanted.toLowerCase();
  if (Array.isArray(value)) return value.some((item) => sameItem(item, wanted));
  return String(value ?? '') === wanted;
}

/** An item of a list: a text, or an object of which `key=value` is asked. */
function sameItem(item: unknown, wanted: string): boolean {
  if (typeof item !== 'object' || item === null) return String(item) === wanted;
  const mark = wanted.indexOf('=');
  return mark > 0 && String((item as Wire)[wanted.slice(0, mark)]) === wanted.slice(mark + 1);
}

/** Narrows by every parameter that names a field; several of one name are alternatives. */
export function filtered<W extends Wire>(items: readonly W[], query: URLSearchParams): readonly W[] {
  const names = [...new Set(query.keys())].filter((name) => !PAGING.has(name));
  return items.filter((item) =>
    names.every((name) => !(name in item) || query.getAll(name).some((wanted) => sameValue(item[name], wanted))),
  );
}

/** Sorted by `sort_key` and `sort_dir`, as often as given. */
export function sorted<W extends Wire>(items: readonly W[], query: URLSearchParams): readonly W[] {
  const keys = query.getAll('sort_key');
  if (keys.length === 0) return items;
  const directions = query.getAll('sort_dir');
  return [...items].sort((a, b) => {
    for (const [index, key] of keys.entries()) {
      const [left, right] = [String(a[key] ?? ''), String(b[key] ?? '')];
      if (left !== right) return (left < right ? -1 : 1) * (directions[index] === 'desc' ? -1 : 1);
    }
    return 0;
  });
}

/** One page of a list: at most `limit` items behind `marker`, and where the next one is. */
export function paged<W extends Wire>(
  items: readonly W[],
  call: Call,
): { readonly page: readonly W[]; readonly next: string | undefined } {
  const limit = call.number('limit');
  const marker = call.text('marker');
  const start = marker === undefined ? 0 : items.findIndex(({ id }) => id === marker) + 1;
  const page = items.slice(start, limit ? start + limit : undefined);
  if (!limit || page.length < limit) return { page, next: undefined };
  const query = new URLSearchParams(call.query);
  query.set('marker', String(page.at(-1)!.id));
  return { page, next: `${call.cloudBase}${call.req.originalUrl.split('?')[0]}?${query}` };
}

/** Only the fields that `fields` names, where it does. */
export function chosenFields(item: Wire, query: URLSearchParams): Wire {
  const fields = query.getAll('fields');
  return fields.length === 0 ? item : Object.fromEntries(Object.entries(item).filter(([key]) => fields.includes(key)));
}
