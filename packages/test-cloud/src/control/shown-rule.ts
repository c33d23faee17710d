import type { ListedRule } from '../front/rule-book.js';

/** A pattern as the bodies of rules write it. */
const patternsAsText = (_key: string, value: unknown) =>
  value instanceof RegExp ? `/${value.source}/${value.flags.replace(/[^imsu]/g, '')}` : value;

/** A rule as the JSON that makes it, with its id and how often it matched. */
export function shownRule({ id, kind, handle }: ListedRule) {
  return { id, calls: handle.calls, [kind]: JSON.parse(JSON.stringify(handle.rule, patternsAsText)) };
}
