import type { Json, Part } from '@apistrata/microversion-router';

/** Well-known patterns: a substring that identifies each pattern, and a description. */
const KNOWN_PATTERNS: readonly (readonly [part: string, meaning: string])[] = [
  ['[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}', 'UUID'],
  ['T\\d\\d:\\d\\d:\\d\\d', 'date and time'],
];
/** Maximum length of patterns that the pages show, in characters. */
const MAX_PATTERN_LENGTH = 60;

function rangeText(low: unknown, high: unknown, unit: string): string | undefined {
  if (low === undefined && high === undefined) return undefined;
  // The bounds of safe integers are not meaningful constraints.
  const min = low === undefined || low === Number.MIN_SAFE_INTEGER ? undefined : String(low);
  const max = high === undefined || high === Number.MAX_SAFE_INTEGER ? undefined : String(high);
  if (min === undefined && max === undefined) return undefined;
  if (min === max) return `${min}${unit}`;
  if (max === undefined) return `at least ${min}${unit}`;
  return min === undefined ? `at most ${max}${unit}` : `${min} to ${max}${unit}`;
}

function alternativesOf({ rules }: Part): readonly Json[] {
  return (rules.anyOf as readonly Json[] | undefined) ?? [rules];
}

function listedValues(rules: Json): readonly unknown[] {
  if (rules.const !== undefined) return [rules.const];
  return Array.isArray(rules.enum) ? rules.enum : [];
}

function typeText(rules: Json): string {
  if (rules.type !== undefined) return [rules.type].flat().join(' | ');
  const [choice] = listedValues(rules);
  if (choice !== undefined) return choice === null ? 'null' : typeof choice;
  return rules.not !== undefined ? 'none' : 'any';
}

function patternText(pattern: unknown): string | undefined {
  if (typeof pattern !== 'string') return undefined;
  const meaning = KNOWN_PATTERNS.find(([part]) => pattern.includes(part))?.[1];
  if (meaning !== undefined) return meaning;
  return pattern.length > MAX_PATTERN_LENGTH ? undefined : `matches \`${pattern}\``;
}

function constraintTexts(rules: Json): string[] {
  const details = [
    rules.format === undefined ? undefined : String(rules.format),
    rangeText(rules.minLength, rules.maxLength, ' characters'),
    rangeText(rules.minimum ?? rules.exclusiveMinimum, rules.maximum ?? rules.exclusiveMaximum, ''),
    rangeText(rules.minItems, rules.maxItems, ' items'),
    patternText(rules.pattern),
    rules.default === undefined ? undefined : `default \`${JSON.stringify(rules.default)}\``,
  ];
  return details.filter((detail) => detail !== undefined);
}

/** Returns the JSON types of a part, such as `string | null`. */
export function typeOf(part: Part): string {
  return [...new Set(alternativesOf(part).flatMap((rules) => typeText(rules).split(' | ')))].join(' | ');
}

/** Returns the values to which a part is limited; an empty list if other values are allowed. */
export function listedValuesOfPart(part: Part): readonly unknown[] {
  return [...new Set(alternativesOf(part).flatMap(listedValues))];
}

/** Returns a part's constraints other than types and listed values, such as `1 to 255 characters`. */
export function constraintsOf(part: Part): readonly string[] {
  return [...new Set(alternativesOf(part).flatMap(constraintTexts))];
}

function variantText(rules: Json): string {
  const choices = listedValues(rules);
  const type = choices.length > 0 ? choices.map((value) => JSON.stringify(value)).join(' | ') : typeText(rules);
  const details = constraintTexts(rules).map((detail) => detail.replaceAll('`', ''));
  return details.length > 0 ? `${type} (${details.join(', ')})` : type;
}

/** Returns a part's types and constraints in one line, such as `string (1 to 255 characters) | null`. */
export function rulesText(part: Part): string {
  return [...new Set(alternativesOf(part).map(variantText))].join(' | ');
}

/** Returns the description of a part, if it has one. */
export function descriptionOf({ rules }: Part): string | undefined {
  return rules.description as string | undefined;
}
