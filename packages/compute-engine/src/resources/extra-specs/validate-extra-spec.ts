import { RE2JS } from 're2js';
import { KNOWN_EXTRA_SPECS, type KnownExtraSpec } from './known-extra-specs.js';
import { RESOURCE_CLASSES, TRAITS } from './standard-names.js';

/** A standard resource class or trait, optionally in a group: `resources2:VCPU`, `trait_net:HW_NIC_SRIOV`. */
const STANDARD = /^(resources|trait)([a-zA-Z0-9_-]{1,64})?:(.*)$/;
/** Namespaces with a fixed set of keys; other namespaces are unrestricted. */
const NAMESPACE =
  /^(accel|aggregate_instance_extra_specs|capabilities|hw|hw_rng|hw_video|os|pci_passthrough|quota|vmware|(resources|trait)([a-zA-Z0-9_-]{1,64})?)$/;
const STANDARD_RESOURCE: KnownExtraSpec = { key: 'resources{group}:{class}', type: 'integer' };
const STANDARD_TRAIT: KnownExtraSpec = { key: 'trait{group}:{trait}', type: 'string', enum: ['required', 'forbidden'] };

const exact = new Map(KNOWN_EXTRA_SPECS.filter((spec) => !spec.placeholders).map((spec) => [spec.key, spec]));
const withPlaceholders = KNOWN_EXTRA_SPECS.flatMap((spec) => {
  const { key, placeholders } = spec;
  if (!placeholders) return [];
  return { spec, start: key.slice(0, key.indexOf('{')), pattern: keyPatternOf(key, placeholders) };
});
const patterns = new Map<string, RE2JS>();

/**
 * Validates an extra spec of a flavor by the rules that apply since microversion 2.86. Keys without a namespace and
 * unknown namespaces are unrestricted.
 *
 * @returns undefined if it is valid, otherwise the message for the caller
 */
export function validateExtraSpec(key: string, value: string): string | undefined {
  const spec = specOf(key);
  if (spec) {
    const requirement = checks[spec.type](spec, value);
    return requirement && `Validation failed; extra spec '${key}' must be ${requirement}, not '${value}'.`;
  }
  const colon = key.indexOf(':');
  if (colon < 0 || !NAMESPACE.test(key.slice(0, colon))) return undefined;
  return `Validation failed; extra spec '${key}' does not appear to be a valid extra spec.`;
}

function specOf(key: string): KnownExtraSpec | undefined {
  return (
    exact.get(key) ??
    standardOf(key) ??
    withPlaceholders.find(({ start, pattern }) => key.startsWith(start) && matches(pattern, key))?.spec
  );
}

function standardOf(key: string): KnownExtraSpec | undefined {
  const [, namespace, , name] = STANDARD.exec(key) ?? [];
  if (name === undefined) return undefined;
  if (namespace === 'resources') return RESOURCE_CLASSES.has(name) ? STANDARD_RESOURCE : undefined;
  return TRAITS.has(name) ? STANDARD_TRAIT : undefined;
}

/** Returns the pattern of a key with placeholders; all other characters are literal. */
function keyPatternOf(key: string, placeholders: Readonly<Record<string, string>>): string {
  return key
    .split(/(\{\w+\})/)
    .map((part) => placeholders[part.slice(1, -1)] ?? RE2JS.quote(part))
    .join('');
}

/**
 * Matches the complete string in linear time, because some of the patterns would cause excessive backtracking with `RegExp`.
 */
function matches(pattern: string, text: string): boolean {
  let compiled = patterns.get(pattern);
  if (!compiled) patterns.set(pattern, (compiled = RE2JS.compile(pattern)));
  return compiled.matches(text);
}

/** The check of each type. It returns the requirement that a value violates; undefined if there is none. */
const checks: Readonly<Record<KnownExtraSpec['type'], (spec: KnownExtraSpec, value: string) => string | undefined>> = {
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
