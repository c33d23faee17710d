import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { openApi } from '@apistrata/microversion/router';
import { type CheckResult, checkDocuments } from '../check/check-documents.js';
import { changelogEntry, checkAnnotations, checkText, withEntry } from '../check/check-report.js';
import { objectOf } from '../documents/openapi-document.js';
import type { Command } from './command.js';
import { CommandError } from './command-error.js';
import { loadApi, versionIn } from './load-api.js';
import { readDocument } from './read-documents.js';

/** The document of the operations of a module at the version of the published document. */
async function generated(module: string | undefined, published: unknown): Promise<unknown> {
  const api = await loadApi(module);
  const { version } = objectOf(objectOf(published).info);
  const { text } = versionIn(api, String(version));
  return openApi(api.operations, { ...api.description, version: text });
}

const REPORTS = {
  text: checkText,
  github: checkAnnotations,
  markdown: changelogEntry,
  json: (result: CheckResult) => `${JSON.stringify(result, null, 2)}\n`,
} as const;

function addEntry(file: string, result: CheckResult): void {
  if (result.changes.length === 0) return;
  try {
    const known = existsSync(file) ? readFileSync(file, 'utf8') : '';
    writeFileSync(file, withEntry(known, changelogEntry(result)));
  } catch (error) {
    throw new CommandError(`Cannot write ${file}: ${(error as Error).message}`);
  }
}

/** Compares the published document with the current one. Sets the exit code 1 if a change requires a new version. */
export async function check(command: Command): Promise<void> {
  const { against = '', files, operations, format, strict, changelog } = command;
  const published = await readDocument(against);
  const [file] = files;
  const current = file === undefined ? await generated(operations, published) : await readDocument(file);
  const result = checkDocuments(published, current, { strict });
  const names = { published: against, current: file ?? operations ?? 'the compute API' };
  process.stdout.write(REPORTS[format](result, names));
  if (changelog !== undefined) addEntry(changelog, result);
  if (!result.passed) process.exitCode = 1;
}
