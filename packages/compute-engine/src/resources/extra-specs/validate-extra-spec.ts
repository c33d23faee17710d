import { RE2JS } from 're2js';
import { KNOWN_EXTRA_SPECS, type KnownExtraSpec } from './known-extra-specs.js';
import { RESOURCE_CLASSES, TRAITS } from './standard-names.js';

/**
 * Matches an extra spec for a resource class or trait, optionally in a request group: `resources2:VCPU`,
 * `trait_net:HW_NIC_SRIOV`.
 */
const STANDARD_KEY = /^(resources|trait)([a-zA-Z0-9_-]{1,64})?:(.*)$/;
/** Matches the extra spec namespaces that allow only known keys. Other namespaces are unrestricted. */
const RESTRICTED_NAMESPACE =
  /^(accel|aggregate_instance_extra_specs|capabilities|hw|hw_rng|hw_video|os|pci_passthrough|quota|vmware|(resources|trait)([a-zA-Z0-9_-]{1,64})?)$/;
const STANDARD_RESOURCE: KnownExtraSpec = { key: 'resources{group}:{class}', type: 'integer' };
const STANDARD_TRAIT: KnownExtraSpec = { key: 'trait{group}:{trait}', type: 'string', enum: ['required', 'forbidden'] };

const specsByKey = new Map(KNOWN_EXTRA_SPECS.filter((spec) => !spec.placeholders).map((spec) => [spec.key, spec]));
const specsWithPlaceholders = KNOWN_EXTRA_SPECS.flatMap((spec) => {
  const { key, placeholders } = spec;
  if (!placeholders) return [];
  return { spec, start: key.slice(0, key.indexOf('{')), pattern: keyPatternOf(key, placeholders) };
});
const compiledPatterns = new Map<string, RE2JS>();

/**
 * Validates a flavor extra spec by the rules that apply since microversion 2.86. Keys without a namespace and keys in
 * unknown namespaces are unrestricted.
 *
 * @returns undefined if the extra spec is valid, otherwise the error message for the client
 */
export function validateExtraSpec(key: string, value: string): string | undefined {
  const spec = specOf(key);
  if (spec) {
    const requirement = validators[spec.type](spec, value);
    return requirement && `Validation failed; extra spec '${key}' must be ${requirement}, not '${value}'.`;
  }
  const colon = key.indexOf(':');
  if (colon < 0 || !RESTRICTED_NAMESPACE.test(key.slice(0, colon))) return undefined;
  return `Validation failed; extra spec '${key}' does not appear to be a valid extra spec.`;
}

function specOf(key: string): KnownExtraSpec | undefined {
  return (
    specsByKey.get(key) ??
    standardSpecOf(key) ??
    specsWithPlaceholders.find(({ start, pattern }) => key.startsWith(start) && matches(pattern, key))?.spec
  );
}

function standardSpecOf(key: string): KnownExtraSpec | undefined {
  const [, namespace, , name] = STANDARD_KEY.exec(key) ?? [];
  if (name === undefined) return undefined;
  if (namespace === 'resources') return RESOURCE_CLASSES.has(name) ? STANDARD_RESOURCE : undefined;
  return TRAITS.has(name) ? STANDARD_TRAIT : undefined;
}

/** Returns a regular expression for a key with placeholders. All other characters in the key match literally. */
function keyPatternOf(key: string, placeholders: Readonly<Record<string, string>>): string {
  return key
    .split(/(\{\w+\})/)
    .map((part) => placeholders[part.slice(1, -1)] ?? RE2JS.quote(part))
    .join('');
}

/**
 * Returns whether a pattern matches a complete string. Takes linear time, whereas `RegExp` would backtrack excessively
 * for some of the patterns.
 */
function matches(pattern: string, text: string): boolean {
  let compiled = compiledPatterns.get(pattern);
  if (!compiled) compiledPatterns.set(pattern, (compiled = RE2JS.compile(pattern)));
  return compiled.matches(text);
}

/**
 * The validation function for each type of extra spec. It returns the requirement that a value violates, or undefined
 * if the value is valid.
 */
const validators: Readonly<
  Record<KnownExtraSpec['type'], (spec: KnownExtraSpec, value: string) => string | undefined>
> = {
  string: ({ enum: values, pattern }, value) => {
    if (values && !values.includes(value)) return `one of ${values.join(', ')}`;
    return pattern === undefined || matches(pattern, value) ? undefined : `of the form ${pattern}`;
  },
  integer: ({ min = -Infinity, max = Infinity }, value) => {
    if (/^[+-]?\d+$/.test(value) && Number(value) >= min && Number(value) <= max) return undefined;
    const range = [Number.isFinite(min) && `from ${min}`, Number.isFinite(max) && `to ${max}`].filter(Boolean);
    return ['an integer', ...range].join(' ');
  },
  boolean: (_, value) =>
    /^(true|false|yes|no|on|off|1|0|t|f|y|n)$/i.test(value) ? undefined : 'a boolean such as true or false',
};
