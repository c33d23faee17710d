import { join } from 'node:path';
import { changesBetween, type OperationChange } from '@apistrata/microversion/router';
import { expect, it } from 'vitest';
import { computeApiHistory, operations } from '../src/index.js';

const page = join(import.meta.dirname, '../../../docs/compute-api-history.md');
const head = `# History of the compute API

For those who write or run clients: what each microversion brought and why, and which operations it touched. Written from
the operations themselves by \`packages/compute-router/test/history-page.test.ts\` (\`vitest --update\` writes it anew). Down to
each field it is shown by [\`@apistrata/explorer\`](../packages/explorer/README.md), which compares any two versions, too.

Versions above 2.100 are served where \`maxVersion\` says so.
`;

/** The second address of servers changes with the first. */
const MIRROR = 'volumes-boot';
/** Names in a line at the most. */
const MOST = 12;

function line(title: string, names: readonly string[]): string {
  if (names.length === 0) return '';
  const rest = names.length > MOST ? ` and ${names.length - MOST} more` : '';
  return `- ${title}: ${names
    .slice(0, MOST)
    .map((name) => `\`${name}\``)
    .join(', ')}${rest}\n`;
}

function touched(changes: readonly OperationChange[], version: string): string {
  const shown = changes.filter(({ tag }) => tag !== MIRROR || version === '2.103');
  const named = (kind: OperationChange['change']) =>
    shown.filter(({ change }) => change === kind).map(({ name }) => name);
  return `${line('New', named('added'))}${line('Changed', named('changed'))}${line('Gone', named('removed'))}`;
}

it('docs/compute-api-history.md tells of every version what it brought, and what it touched', async () => {
  const versions = Object.keys(computeApiHistory);
  const sections = versions.map((version, index) => {
    const before = versions[index - 1];
    const changes = before === undefined ? '' : touched(changesBetween(operations, before, version), version);
    return `\n## ${version}\n\n${computeApiHistory[version]}\n${changes && `\n${changes}`}`;
  });
  await expect(head + sections.join('')).toMatchFileSnapshot(page);
});
