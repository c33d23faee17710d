import type { Json, Part } from '@apistrata/microversion/router';

function range(low: unknown, high: unknown, unit: string): string | undefined {
  if (low === undefined && high === undefined) return undefined;
  // The bounds of safe integers are not informative.
  const least = low === undefined || low === Number.MIN_SAFE_INTEGER ? undefined : String(low);
  const most = high === undefined || high === Number.MAX_SAFE_INTEGER ? undefined : String(high);
  if (least === undefined && most === undefined) return undefined;
  if (least === most) return `${least}${unit}`;
  if (most === undefined) return `at least ${least}${unit}`;
  return least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`;
}

function typeText(rules: Json): string {
  if (rules.const !== undefined) return JSON.stringify(rules.const);
  if (Array.isArray(rules.enum)) return rules.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (rules.type !== undefined) return [rules.type].flat().join(' | ');
  return rules.not !== undefined ? 'none' : 'any';
}

function oneText(rules: Json): string {
  const details = [
    rules.format === undefined ? undefined : String(rules.format),
    range(rules.minLength, rules.maxLength, ' characters'),
    range(rules.minimum ?? rules.exclusiveMinimum, rules.maximum ?? rules.exclusiveMaximum, ''),
    range(rules.minItems, rules.maxItems, ' items'),
    rules.default === undefined ? undefined : `default ${JSON.stringify(rules.default)}`,
  ].filter((detail) => detail !== undefined);
  return details.length > 0 ? `${typeText(rules)} (${details.join(', ')})` : typeText(rules);
}

/** Returns the constraints of a part as one line: `string (1 to 255 characters) | null`. */
export function rulesText({ rules }: Part): string {
  const variants = (rules.anyOf as readonly Json[] | undefined) ?? [rules];
  return [...new Set(variants.map(oneText))].join(' | ');
}

/** Returns the description of a part, if it has one. */
export function descriptionOf({ rules }: Part): string | undefined {
  return rules.description as string | undefined;
}
