import type { OperationChange } from '@apistrata/microversion-router';

/** The kinds of changes that a filter can select. */
export const CHANGE_KINDS = ['added', 'removed', 'changed'] as const;

/** Maximum length of a filter's text, in characters. */
const MAX_FILTER_TEXT_LENGTH = 100;

/** A filter for the changes that a page shows. */
export interface ChangeFilter {
  /** Words from an operation's name, summary, path or tag; empty for all operations. */
  readonly text: string;
  readonly kind: (typeof CHANGE_KINDS)[number] | undefined;
  readonly breakingOnly: boolean;
}

/** Reads a filter from the query parameters `operation`, `kind` and `breaking`. Unknown kinds select all changes. */
export function parseFilter(query: URLSearchParams): ChangeFilter {
  return {
    text: (query.get('operation') ?? '').trim().slice(0, MAX_FILTER_TEXT_LENGTH),
    kind: CHANGE_KINDS.find((kind) => kind === query.get('kind')),
    breakingOnly: query.has('breaking'),
  };
}

/** Returns the query parameters that represent a filter. */
export function filterParameters({ text, kind, breakingOnly }: ChangeFilter): Readonly<Record<string, string>> {
  return { ...(text && { operation: text }), ...(kind && { kind }), ...(breakingOnly && { breaking: 'only' }) };
}

/** Returns the changes that a filter selects. */
export function filterChanges(changes: readonly OperationChange[], filter: ChangeFilter): readonly OperationChange[] {
  const filterWords = filter.text.toLowerCase().split(/\s+/);
  return changes.filter(({ operation, name, summary, tag, change, breaking }) => {
    const text = `${operation} ${name} ${summary} ${tag}`.toLowerCase();
    if (filter.breakingOnly && !breaking) return false;
    return (filter.kind === undefined || change === filter.kind) && filterWords.every((word) => text.includes(word));
  });
}
