import type { OperationChange, PartChange } from '@apistrata/microversion-router';
import { partLabel } from './model/part-name.js';
import { rulesText } from './model/rules-text.js';
import { breakingChanges, compatibleChanges, groupByTag } from './pages/changes-page.js';

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|]/g, '\\$&');
}

/** Describes how a part changed, as in `title in the response removed`. */
function partChangeText({ change, before, after }: PartChange, label: string): string {
  const [oldText, newText] = [before && rulesText(before), after && rulesText(after)];
  return change !== 'altered'
    ? `${label} ${change}`
    : oldText !== newText
      ? `${label}: \`${oldText}\` becomes \`${newText}\``
      : `${label} ${before?.required !== after?.required ? (after?.required ? 'is required' : 'is optional') : 'has different constraints'}`;
}

/** Describes in plain text how a part changed, with the reason if the change is breaking. */
export function partChangeSentence(part: PartChange): string {
  return `${partChangeText(part, partLabel(part.name))}${part.breaking === undefined ? '' : `: ${part.breaking}`}`;
}

function partChangeLine(part: PartChange, withVersion: boolean): string {
  const text = partChangeText(part, escapeMarkdown(partLabel(part.name)));
  return `  - ${text}${withVersion ? ` (${part.version})` : ''}${part.breaking === undefined ? '' : `: **${escapeMarkdown(part.breaking)}**`}`;
}

/** Formats the changes to an operation as a Markdown list item. */
export function formatOperationChange(change: OperationChange, withVersion = false): string {
  const kind = change.change === 'changed' ? '' : ` ${change.change}${withVersion ? ` (${change.version})` : ''}`;
  const firstLine = `- \`${change.operation}\`${kind} ${escapeMarkdown(change.summary)}`;
  return [firstLine, ...change.parts.map((part) => partChangeLine(part, withVersion))].join('\n');
}

function changeSection(title: string, changes: readonly OperationChange[]): string {
  if (changes.length === 0) return `## ${title}\n\nNone.\n`;
  const groups = [...groupByTag(changes)].map(
    ([tag, group]) => `### ${tag}\n\n${group.map((each) => formatOperationChange(each, true)).join('\n')}\n`,
  );
  return `## ${title}\n\n${groups.join('\n')}`;
}

/** Returns the changes between two versions as Markdown, breaking changes first. */
export function changesMarkdown(title: string, from: string, to: string, changes: readonly OperationChange[]): string {
  return [
    `# ${escapeMarkdown(title)}: from ${from} to ${to}\n`,
    changeSection(`Breaking changes for clients of ${from}`, breakingChanges(changes)),
    changeSection('Other changes', compatibleChanges(changes)),
  ].join('\n');
}
