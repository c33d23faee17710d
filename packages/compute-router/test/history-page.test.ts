import { join } from 'node:path';
import { changesBetween, type OperationChange } from '@apistrata/microversion-router';
import { expect, it } from 'vitest';
import { computeApiHistory, operations } from '../src/index.js';

const page = join(import.meta.dirname, '../../../docs/compute-api-history.md');
const head = `# History of the compute API

This page shows what each microversion changed, why, and which operations it affects. It is generated from the operations by
\`packages/compute-router/test/history-page.test.ts\` (\`vitest --update\` rewrites it). [\`@apistrata/explorer\`](../packages/explorer/README.md)
shows the changes of each field and compares any two versions.

Versions above 2.100 are served only if the option \`maxVersion\` allows them.
`;

/** The tag whose operations repeat every change to the servers API. */
const MIRROR = 'volumes-boot';
/** Maximum number of names per line. */
const MAX = 12;

function line(title: string, names: readonly string[]): string {
  if (names.length === 0) return '';
  const rest = names.length > MAX ? ` and ${names.length - MAX} more` : '';
  return `- ${title}: ${names
    .slice(0, MAX)
    .map((name) => `\`${name}\``)
    .join(', ')}${rest}\n`;
}

function touched(changes: readonly OperationChange[], version: string): string {
  const shown = changes.filter(({ tag }) => tag !== MIRROR || version === '2.103');
  const named = (kind: OperationChange['change']) =>
    shown.filter(({ change }) => change === kind).map(({ name }) => name);
  return `${line('New', named('added'))}${line('Changed', named('changed'))}${line('Removed', named('removed'))}`;
}

it('docs/compute-api-history.md matches the operations', async () => {
  const versions = Object.keys(computeApiHistory);
  const sections = versions.map((version, index) => {
    const before = versions[index - 1];
    const changes = before === undefined ? '' : touched(changesBetween(operations, before, version), version);
    return `\n## ${version}\n\n${computeApiHistory[version]}\n${changes && `\n${changes}`}`;
  });
  await expect(head + sections.join('')).toMatchFileSnapshot(page);
});
