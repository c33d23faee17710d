import type { ListedRule } from '../gateway/rule-book.js';

/** Formats patterns in rule notation, `/source/flags`. Pass this function to `JSON.stringify()`. */
const serializePattern = (_key: string, value: unknown) =>
  value instanceof RegExp ? `/${value.source}/${value.flags.replace(/[^imsu]/g, '')}` : value;

/** Returns a rule with its id and number of matches, as JSON. */
export function serializeRule({ id, kind, handle }: ListedRule) {
  return { id, calls: handle.calls, [kind]: JSON.parse(JSON.stringify(handle.rule, serializePattern)) };
}
