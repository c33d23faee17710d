import type { OperationChange } from '@apistrata/microversion-router';
import { formatOperationChange, partChangeSentence } from '../markdown.js';
import { breakingChanges, compatibleChanges } from '../pages/changes-page.js';
import type { CheckResult } from './check-documents.js';

/** Names of the compared documents, for messages. */
export interface DocumentNames {
  readonly published: string;
  readonly current: string;
}

/** Returns the changes that fail the check, because they require a new version. */
function failingChanges({ changes, passed, breaking }: CheckResult): readonly OperationChange[] {
  if (passed) return [];
  return breaking > 0 ? breakingChanges(changes) : changes;
}

function changeSentences({ change, parts }: OperationChange): readonly string[] {
  return change === 'changed' ? parts.map(partChangeSentence) : [change];
}

function operationTitle({ operation, summary }: OperationChange): string {
  return operation.endsWith(summary) ? operation : `${operation} (${summary})`;
}

function conclusionText({ passed, breaking, to }: CheckResult, current: string): string {
  if (!passed) return `Restore the previous behavior, or change info.version of ${current} to a new version.\n`;
  return breaking > 0
    ? `${to} is a new version, so incompatible changes are allowed.\n`
    : 'No new version is required.\n';
}

/** Returns a check's result as text, with a paragraph for each operation that requires a new version. */
export function formatCheckText(result: CheckResult, { published, current }: DocumentNames): string {
  const { from, to, changes, breaking } = result;
  const versionsText = from === to ? `both have version ${from || '(none)'}` : `version ${from} to ${to}`;
  const opening = `${current} against ${published} (${versionsText}): operations changed: ${changes.length}, with incompatible changes: ${breaking}`;
  const paragraphs = failingChanges(result).map((change) =>
    [operationTitle(change), ...changeSentences(change).map((sentence) => `  - ${sentence}`)].join('\n'),
  );
  return [opening, ...paragraphs, conclusionText(result, current)].join('\n\n');
}

/** Percent-encodes the characters that are reserved in GitHub Actions commands. */
const encodeCommandData = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

/** Returns a check's result with a GitHub Actions annotation for each change that requires a new version. */
export function formatCheckAnnotations(result: CheckResult, files: DocumentNames): string {
  const annotations = failingChanges(result).flatMap((change) =>
    changeSentences(change).map(
      (sentence) =>
        `::error file=${encodeCommandData(files.current)},title=Change without a new version::${encodeCommandData(`${operationTitle(change)}: ${sentence}`)}\n`,
    ),
  );
  return `${annotations.join('')}${formatCheckText(result, files)}`;
}

function changeList(heading: string, changes: readonly OperationChange[]): string {
  const lines = changes.map((change) => formatOperationChange(change));
  return lines.length === 0 ? '' : `### ${heading}\n\n${lines.join('\n')}\n\n`;
}

const UNRELEASED_HEADING = '## Unreleased';

/** Returns a changelog entry for the changes, titled `## 2.0.0`, or `## Unreleased` if the version is the same. */
export function formatChangelogEntry({ from, to, changes }: CheckResult): string {
  const content = `${changeList('Breaking changes', breakingChanges(changes))}${changeList('Other changes', compatibleChanges(changes))}`;
  return `${from === to ? UNRELEASED_HEADING : `## ${to}`}\n\n${content || 'No changes to the API.\n\n'}`;
}

/**
 * Inserts an entry at the beginning of a changelog, and removes entries with the same heading or with `## Unreleased`.
 */
export function insertChangelogEntry(changelog: string, entry: string): string {
  const headingOf = (section: string) => section.split('\n', 1)[0]?.trim() ?? '';
  const sections = changelog.split(/^(?=## )/m);
  const introduction = sections[0]?.startsWith('## ') ? '' : (sections.shift() ?? '');
  const otherSections = sections.filter(
    (section) => ![headingOf(entry), UNRELEASED_HEADING].includes(headingOf(section)),
  );
  const opening = introduction.trim() === '' ? '# Changelog' : introduction.trimEnd();
  return `${[opening, entry.trimEnd(), ...otherSections.map((section) => section.trimEnd())].join('\n\n')}\n`;
}
