import { describe, expect, it } from 'vitest';
import { honoured, withoutEffect } from '../src/tuning/honoured.js';

const HEAD = `# What flavors and images say to machines of QEMU

Extra specs of flavors and properties of images that [machines of QEMU](../packages/qemu/README.md) heed, and those that they do
not. Where a flavor and an image speak of the same, the flavor is heard. A word that is not in the table is as if nothing were
said. A server keeps what its flavor and image said when it was made; another flavor comes with a resize, another image with a
rebuild.

This page is generated from \`packages/qemu/src/tuning/honoured.ts\`;
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
    Object.values<{ spec?: string; property?: string; effect: string }>(honoured).map((wish) => [
      code(wish.spec),
      code(wish.property),
      wish.effect,
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
