import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KNOWN_EXTRA_SPECS, type KnownExtraSpec } from './known-extra-specs.js';
import { RESOURCE_CLASSES, TRAITS } from './standard-names.js';
import { validateExtraSpec } from './validate-extra-spec.js';

const recordedFacts = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../../../reference/extra_specs.json'), 'utf8'),
) as {
  readonly specs: readonly KnownExtraSpec[];
  readonly resourceClasses: { readonly names: readonly string[] };
  readonly traits: { readonly names: readonly string[] };
};

const stringsMatching = (pattern: string) =>
  fc.stringMatching(new RegExp(`^(?:${pattern})$`)).filter((text) => /^[\x20-\x7e]{0,100}$/.test(text));

/** Generates keys that match a known extra spec. */
const keysOf = ({ key, placeholders = {} }: KnownExtraSpec): fc.Arbitrary<string> =>
  fc
    .record(Object.fromEntries(Object.entries(placeholders).map(([name, pattern]) => [name, stringsMatching(pattern)])))
    .map((parts) => key.replace(/\{(\w+)\}/g, (_, name: string) => parts[name]!));

const SPELLINGS = ['true', 'false', 'True', 'FALSE', 'yes', 'No', 'on', 'OFF', '1', '0', 't', 'F', 'y', 'N'];

/** Generates valid values for a known extra spec. */
function validValuesOf({ type, enum: values, pattern, min = -1_000_000, max = 1_000_000 }: KnownExtraSpec) {
  if (type === 'integer') return fc.integer({ min, max }).map(String);
  if (type === 'boolean') return fc.constantFrom(...SPELLINGS);
  if (values) return fc.constantFrom(...values);
  return pattern === undefined ? fc.string({ maxLength: 255 }) : stringsMatching(pattern);
}

/** Returns invalid values for a known extra spec, or none if it accepts any string. */
function invalidValuesOf({ type, enum: values, pattern, min, max }: KnownExtraSpec): readonly string[] {
  if (type === 'integer') {
    const outOfRange = [min !== undefined && String(min - 1), max !== undefined && String(max + 1)];
    return ['', 'x', '1.5', '0x10', '1 2', ...outOfRange.filter((text) => text !== false)];
  }
  if (type === 'boolean') return ['', 'x', '2', 'tru', 'true ', 'null'];
  if (values) return ['', 'x', `${values[0]} `, `x${values[0]}`, values.join(',')];
  return pattern === undefined ? [] : ['', '!', ' '];
}

const rows = recordedFacts.specs.map((spec) => ({ ...spec, spec }));
const restrictedRows = rows.filter(({ spec }) => invalidValuesOf(spec).length > 0);
const unrestrictedRows = rows.filter(({ spec }) => invalidValuesOf(spec).length === 0);

describe('the known extra specs', () => {
  it('equal the extra specs that the reference records', () => {
    expect(KNOWN_EXTRA_SPECS).toEqual(recordedFacts.specs);
    expect(recordedFacts.specs.length).toBe(127);
  });

  it('include the standard resource classes and traits that the reference records', () => {
    expect(recordedFacts.resourceClasses.names.filter((name) => !RESOURCE_CLASSES.has(name))).toEqual([]);
    // The recorded list of traits states that it is incomplete, so `TRAITS` contains further traits.
    expect(recordedFacts.traits.names.filter((name) => !TRAITS.has(name))).toEqual([]);
    expect(TRAITS).toContain('HW_CPU_X86_AMD_SEV_SNP');
  });

  it.each(rows)('$key accepts valid values', ({ spec }) => {
    fc.assert(
      fc.property(keysOf(spec), validValuesOf(spec), (key, value) => {
        expect(validateExtraSpec(key, value)).toBeUndefined();
      }),
      { numRuns: 20 },
    );
  });

  it.each(restrictedRows)('$key rejects invalid values, with a message that contains the key', ({ spec }) => {
    const [key] = fc.sample(keysOf(spec), { numRuns: 1, seed: 1 }) as [string];
    for (const value of invalidValuesOf(spec)) {
      const message = validateExtraSpec(key, value);
      expect(message, `${key} = ${JSON.stringify(value)}`).toMatch(
        /^Validation failed; extra spec '.+' must be .+, not '.*'\.$/,
      );
      expect(message).toContain(`'${key}'`);
    }
  });

  it.each(unrestrictedRows)('$key accepts any string, but is unknown if misspelled', ({ spec }) => {
    const misspelled = spec.placeholders?.key ? spec.key.replace('{key}', '') : `${spec.key.replace('{filter}', '')}!`;
    expect(validateExtraSpec(misspelled, 'x')).toBe(
      `Validation failed; extra spec '${misspelled}' does not appear to be a valid extra spec.`,
    );
  });
});

describe('standard resource classes and traits', () => {
  it.each([...RESOURCE_CLASSES])('resources:%s accepts a number, in any group', (name) => {
    for (const group of ['', '1', '_net-A', 'x'.repeat(64)]) {
      expect(validateExtraSpec(`resources${group}:${name}`, '4')).toBeUndefined();
      expect(validateExtraSpec(`resources${group}:${name}`, 'four')).toMatch(/must be an integer, not 'four'/);
    }
  });

  it('traits can be required or forbidden, in any group', () => {
    for (const name of TRAITS) {
      expect(validateExtraSpec(`trait:${name}`, 'required')).toBeUndefined();
      expect(validateExtraSpec(`trait_g1:${name}`, 'forbidden')).toBeUndefined();
      expect(validateExtraSpec(`trait:${name}`, 'optional')).toMatch(
        /must be one of required, forbidden, not 'optional'/,
      );
    }
  });

  it.each([
    'trait:X',
    'trait:',
    'trait:custom_x',
    'trait:CUSTOM_',
    'resources:X',
    'resources:vcpu',
    'resources2:NOPE',
    'resources:VCPU:1',
    'hw:nonsense',
    'hw:numa_cpus.',
    'hw:numa_cpusX0',
    'hw:cpu_policy ',
    'hw:cpu_policies',
    'quota:',
    'os:',
    'accel:device_profile:x',
    'aggregate_instance_extra_specs:',
    'capabilities:hypervisor_type:x',
    'pci_passthrough:aliases',
    'vmware:x',
  ])('%s is unknown', (key) => {
    expect(validateExtraSpec(key, 'required')).toBe(
      `Validation failed; extra spec '${key}' does not appear to be a valid extra spec.`,
    );
  });
});

describe('other extra specs', () => {
  it.each([
    'anything',
    'hide',
    'hw',
    'constructor',
    '__proto__',
    'own:key',
    'HW:cpu_policy',
    'hwx:cpu_policy',
    ':x',
    'toString:x',
    'resources.1:VCPU',
    `trait${'x'.repeat(65)}:X`,
  ])('%s is unrestricted', (key) => {
    expect(validateExtraSpec(key, 'whatever')).toBeUndefined();
  });

  it('are validated for any key and value', () => {
    const key = fc.oneof(
      fc.string(),
      fc
        .constantFrom('hw:', 'trait', 'resources1:', 'capabilities:')
        .chain((start) => fc.string().map((rest) => start + rest)),
    );
    fc.assert(
      fc.property(key, fc.string(), (name, value) => {
        expect(validateExtraSpec(name, value) ?? 'Validation failed').toMatch(/^Validation failed/);
      }),
    );
  });
});

describe('a value that provokes backtracking', () => {
  it.each([
    ['hw:pmem', 'a'],
    ['hw:cpu_dedicated_mask', '1'],
    ['hw:cpu_realtime_mask', '1,1'],
    ['hw:numa_cpus.0', '1-1,'],
    ['pci_passthrough:alias', 'a:1,'],
    ['hw:mem_page_size', '1'],
  ])('is rejected for %s', (key, chunk) => {
    expect(validateExtraSpec(key, `${chunk.repeat(5_000)}!`)).toMatch(/must be of the form/);
  });
});
