import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { honoured, withoutEffect } from '../src/tuning/honoured-options.js';
import { tuningOf } from '../src/tuning/tuning.js';

const HEAD = `# What flavors and images say to machines of QEMU

Extra specs of flavors and properties of images that [machines of QEMU](../packages/qemu/README.md) heed, and those that they do
not. Where a flavor and an image speak of the same, the flavor is heard. A word that is not in the table is as if nothing were
said. A server keeps what its flavor and image said when it was made; another flavor comes with a resize, another image with a
rebuild.

This page is generated from \`packages/qemu/src/tuning/honoured-options.ts\`;
\`npx vitest run packages/qemu/test/tuning-page.test.ts -u\` writes it anew.
`;

const code = (name: string | undefined) => (name ? `\`${name}\`` : '');
const table = (columns: readonly string[], rows: readonly (readonly string[])[]) =>
  [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

const page = [
  HEAD,
  '\n## Honoured\n\n',
  table(
    ['extra spec', 'image property', 'what becomes of it'],
    Object.values<{ spec?: string; property?: string; effect: string }>(honoured).map(({ spec, property, effect }) => [
      code(spec),
      code(property),
      effect,
    ]),
  ),
  '\n## Without effect on machines\n\n',
  table(
    ['extra spec', 'why'],
    Object.entries(withoutEffect).map(([spec, why]) => [code(spec), why]),
  ),
].join('');

describe('docs/machine-tuning.md', () => {
  it('says what is honoured and what is not, as the code has it', async () => {
    await expect(page).toMatchFileSnapshot('../../../docs/machine-tuning.md');
  });
});

type Words = Readonly<Record<string, string>>;

/** Has flavor and image asked for all that a machine takes from them. */
function tune(extraSpecs: Words, properties: Words = {}): void {
  const sizes = { id: '1', name: 'm', vcpus: 4, memoryMb: 512, diskGb: 1, ephemeralGb: 0, swapMb: 0 };
  tuningOf({ ...sizes, extraSpecs }, properties);
}

describe('the options of flavors and images', () => {
  it('are all heard', () => {
    const heard = new Set<string>();
    const listening = (answer: string | undefined) =>
      new Proxy({} as Words, {
        get: (_target, name) => {
          heard.add(String(name));
          return answer;
        },
      });
    tune(listening(undefined), listening('1'));
    tune(listening('1'));
    // Read where it is needed, not when the machine begins.
    const elsewhere = ['agent', 'atRest', 'administrator', 'system', 'kernel', 'ramdisk', 'commandLine'];
    for (const [name, { spec, property }] of Object.entries<{ spec?: string; property?: string }>(honoured)) {
      if (elsewhere.includes(name)) continue;
      for (const key of [spec, property]) if (key) expect(heard, name).toContain(key);
    }
  });

  it('speaks of every extra spec that the API knows, once', () => {
    const file = join(import.meta.dirname, '../../../reference/extra_specs.json');
    const { specs } = JSON.parse(readFileSync(file, 'utf8')) as { specs: { key: string }[] };
    const honouredSpecs = Object.values<{ spec?: string; property?: string }>(honoured).map(({ spec }) => spec);
    const rows = Object.keys(withoutEffect);
    for (const { key } of specs) {
      const here = honouredSpecs.filter((spec) => spec === key).length;
      const without = rows.filter((row) => speaksOf(row, key)).length;
      expect([key, here + without]).toEqual([key, 1]);
    }
    const all = specs.map(({ key }) => key);
    for (const row of rows)
      expect(
        all.some((key) => speaksOf(row, key)),
        row,
      ).toBe(true);
    for (const spec of honouredSpecs) if (spec) expect(all).toContain(spec);
  });
});

/** Whether a row speaks of a key. */
function speaksOf(row: string, key: string): boolean {
  return row.endsWith('*') ? key.startsWith(row.slice(0, -1)) : key === row;
}
