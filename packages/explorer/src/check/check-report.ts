import type { OperationChange } from '@apistrata/microversion/router';
import { operationLines, partSentence } from '../markdown.js';
import { breakingOnly, compatibleChanges } from '../pages/changes-page.js';
import type { CheckResult } from './check-documents.js';

/** Names of the compared documents, for messages. */
export interface CheckedFiles {
  readonly published: string;
  readonly current: string;
}

/** Returns the changes that fail the check, because they require a new version. */
function violations({ changes, passed, breaking }: CheckResult): readonly OperationChange[] {
  if (passed) return [];
  return breaking > 0 ? breakingOnly(changes) : changes;
}

function sentencesOf({ change, parts }: OperationChange): readonly string[] {
  return change === 'changed' ? parts.map(partSentence) : [change];
}

function titleOf({ operation, summary }: OperationChange): string {
  return operation.endsWith(summary) ? operation : `${operation} (${summary})`;
}

function conclusion({ passed, breaking, to }: CheckResult, current: string): string {
  if (!passed) return `Restore the previous behavior, or change info.version of ${current} to a new version.\n`;
  return breaking > 0
    ? `${to} is a new version, which may have incompatible changes.\n`
    : 'No new version is required.\n';
}

/** Returns a check's result as text, with a paragraph for each operation that requires a new version. */
export function checkText(result: CheckResult, { published, current }: CheckedFiles): string {
  const { from, to, changes, breaking } = result;
  const versions = from === to ? `both have version ${from || '(none)'}` : `version ${from} to ${to}`;
  const head = `${current} against ${published} (${versions}): operations changed: ${changes.length}, with incompatible changes: ${breaking}`;
  const paragraphs = violations(result).map((change) =>
    [titleOf(change), ...sentencesOf(change).map((sentence) => `  - ${sentence}`)].join('\n'),
  );
  return [head, ...paragraphs, conclusion(result, current)].join('\n\n');
}

/** Percent-encodes the characters that are reserved in GitHub Actions commands. */
const encodeData = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

/** Returns a check's result with a GitHub Actions annotation for each change that requires a new version. */
export function checkAnnotations(result: CheckResult, files: CheckedFiles): string {
  const errors = violations(result).flatMap((change) =>
    sentencesOf(change).map(
      (sentence) =>
        `::error file=${encodeData(files.current)},title=Change without a new version::${encodeData(`${titleOf(change)}: ${sentence}`)}\n`,
    ),
  );
  return `${errors.join('')}${checkText(result, files)}`;
}

function list(heading: string, changes: readonly OperationChange[]): string {
  const lines = changes.map((change) => operationLines(change));
  return lines.length === 0 ? '' : `### ${heading}\n\n${lines.join('\n')}\n\n`;
}

const UNRELEASED = '## Unreleased';

/** Returns a changelog entry for the changes, titled `## 2.0.0`, or `## Unreleased` if the version is the same. */
export function changelogEntry({ from, to, changes }: CheckResult): string {
  const content = `${list('Breaking changes', breakingOnly(changes))}${list('Other changes', compatibleChanges(changes))}`;
  return `${from === to ? UNRELEASED : `## ${to}`}\n\n${content || 'No changes to the API.\n\n'}`;
}

/**
 * Inserts an entry at the beginning of a changelog, and removes entries with the same heading or with `## Unreleased`.
 */
export function insertEntry(changelog: string, entry: string): string {
  const headingOf = (section: string) => section.split('\n', 1)[0]?.trim() ?? '';
  const sections = changelog.split(/^(?=## )/m);
  const introduction = sections[0]?.startsWith('## ') ? '' : (sections.shift() ?? '');
  const others = sections.filter((section) => ![headingOf(entry), UNRELEASED].includes(headingOf(section)));
  const head = introduction.trim() === '' ? '# Changelog' : introduction.trimEnd();
  return `${[head, entry.trimEnd(), ...others.map((section) => section.trimEnd())].join('\n\n')}\n`;
}
