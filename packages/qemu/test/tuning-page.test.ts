import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { optionsWithoutEffect, supportedOptions } from '../src/tuning/supported-options.js';
import { tuningOf } from '../src/tuning/tuning.js';

const HEAD = `# Machine options of flavors and images

This page lists the flavor extra specs and image properties that [QEMU machines](../packages/qemu/README.md) support, and the extra specs
that have no effect. If a flavor and an image set the same option, the flavor takes precedence; if they set different values for performance
counters, multiqueue or the TPM, the request returns 400. A value that is not in the table is ignored, except that a server with an unknown
machine type, TPM version or TPM model fails to start. A server keeps the options that its flavor and image had when it was created. A
resize applies the options of the new flavor, and a rebuild those of the new image.

This page is generated from \`packages/qemu/src/tuning/supported-options.ts\`;
\`npx vitest run packages/qemu/test/tuning-page.test.ts -u\` updates it.
`;

const code = (name: string | undefined) => (name ? `\`${name}\`` : '');
const table = (columns: readonly string[], rows: readonly (readonly string[])[]) =>
  [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

const page = [
  HEAD,
  '\n## Supported options\n\n',
  table(
    ['extra spec', 'image property', 'effect'],
    Object.values<{ spec?: string; property?: string; effect: string }>(supportedOptions).map(
      ({ spec, property, effect }) => [code(spec), code(property), effect],
    ),
  ),
  '\n## Extra specs without effect\n\n',
  table(
    ['extra spec', 'reason'],
    Object.entries(optionsWithoutEffect).map(([spec, reason]) => [code(spec), reason]),
  ),
].join('');

describe('docs/machine-tuning.md', () => {
  it('lists the supported options and those without effect', async () => {
    await expect(page).toMatchFileSnapshot('../../../docs/machine-tuning.md');
  });
});

type Descriptions = Readonly<Record<string, string>>;

/** Options that reject unknown values. */
const REJECTED: ReadonlySet<string> = new Set([
  'hw_machine_type',
  'hw:tpm_version',
  'hw_tpm_version',
  'hw:tpm_model',
  'hw_tpm_model',
]);

/** Evaluates all machine options of a flavor and an image. */
function tune(extraSpecs: Descriptions, properties: Descriptions = {}): void {
  const sizes = { id: '1', name: 'm', vcpus: 4, memoryMb: 512, diskGb: 1, ephemeralGb: 0, swapMb: 0 };
  tuningOf({ ...sizes, extraSpecs }, properties);
}

describe('options of flavors and images', () => {
  it('are all read', () => {
    const readOptions = new Set<string>();
    const listening = (response: string | undefined) =>
      new Proxy({} as Descriptions, {
        get: (_target, name) => {
          readOptions.add(String(name));
          return REJECTED.has(String(name)) ? undefined : response;
        },
      });
    tune(listening(undefined), listening('1'));
    tune(listening('1'));
    // These options are read when they are used, not when the machine starts.
    const elsewhere = ['agent', 'atRest', 'administrator', 'system', 'kernel', 'ramdisk', 'commandLine'];
    for (const [name, { spec, property }] of Object.entries<{ spec?: string; property?: string }>(supportedOptions)) {
      if (elsewhere.includes(name)) continue;
      for (const key of [spec, property]) if (key) expect(readOptions, name).toContain(key);
    }
  });

  it('documents every known extra spec once', () => {
    const file = join(import.meta.dirname, '../../../reference/extra_specs.json');
    const { specs } = JSON.parse(readFileSync(file, 'utf8')) as { specs: { key: string }[] };
    const supportedSpecs = Object.values<{ spec?: string; property?: string }>(supportedOptions).map(
      ({ spec }) => spec,
    );
    const rows = Object.keys(optionsWithoutEffect);
    for (const { key } of specs) {
      const here = supportedSpecs.filter((spec) => spec === key).length;
      const without = rows.filter((row) => describes(row, key)).length;
      expect([key, here + without]).toEqual([key, 1]);
    }
    const all = specs.map(({ key }) => key);
    for (const row of rows)
      expect(
        all.some((key) => describes(row, key)),
        row,
      ).toBe(true);
    for (const spec of supportedSpecs) if (spec) expect(all).toContain(spec);
  });
});

/** Returns whether a row describes a key. */
function describes(row: string, key: string): boolean {
  return row.endsWith('*') ? key.startsWith(row.slice(0, -1)) : key === row;
}
