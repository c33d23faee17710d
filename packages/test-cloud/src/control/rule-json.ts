import type { ListedRule } from '../gateway/rule-book.js';

/** Serializes patterns in the notation of rules. */
const patternsAsText = (_key: string, value: unknown) =>
  value instanceof RegExp ? `/${value.source}/${value.flags.replace(/[^imsu]/g, '')}` : value;

/** Returns the JSON of a rule with its id and the number of matches. */
export function ruleJson({ id, kind, handle }: ListedRule) {
  return { id, calls: handle.calls, [kind]: JSON.parse(JSON.stringify(handle.rule, patternsAsText)) };
}
