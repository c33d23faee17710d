import type { OperationChange, PartChange } from '@apistrata/microversion/router';
import { partLabel } from './model/part-name.js';
import { rulesText } from './model/rules-text.js';
import { breakingOnly, byTag, harmlessOnly } from './pages/changes-page.js';

function inline(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|]/g, '\\$&');
}

function partLine({ name, change, version, before, after, breaking }: PartChange): string {
  const label = inline(partLabel(name));
  const [was, is] = [before && rulesText(before), after && rulesText(after)];
  const what =
    change !== 'altered'
      ? `${label} ${change}`
      : was !== is
        ? `${label}: \`${was}\` becomes \`${is}\``
        : `${label} ${before?.required !== after?.required ? (after?.required ? 'is required' : 'is optional') : 'has different constraints'}`;
  return `  - ${what} (${version})${breaking === undefined ? '' : `: **${inline(breaking)}**`}`;
}

function operationLines({ operation, summary, change, version, parts }: OperationChange): string {
  const what = change === 'changed' ? '' : ` ${change} (${version})`;
  return [`- \`${operation}\`${what} ${inline(summary)}`, ...parts.map(partLine)].join('\n');
}

function section(title: string, changes: readonly OperationChange[]): string {
  if (changes.length === 0) return `## ${title}\n\nNone.\n`;
  const groups = [...byTag(changes)].map(([tag, group]) => `### ${tag}\n\n${group.map(operationLines).join('\n')}\n`);
  return `## ${title}\n\n${groups.join('\n')}`;
}

/** Returns the changes between two versions as Markdown, breaking changes first. */
export function changesMarkdown(title: string, from: string, to: string, changes: readonly OperationChange[]): string {
  return [
    `# ${inline(title)}: from ${from} to ${to}\n`,
    section(`Breaking changes for clients of ${from}`, breakingOnly(changes)),
    section('Other changes', harmlessOnly(changes)),
  ].join('\n');
}
