import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { openApi } from '@apistrata/microversion-router';
import { type CheckResult, checkDocuments } from '../check/check-documents.js';
import {
  formatChangelogEntry,
  formatCheckAnnotations,
  formatCheckText,
  insertChangelogEntry,
} from '../check/check-report.js';
import { objectOrEmpty } from '../documents/openapi-document.js';
import type { Command } from './command.js';
import { CommandError } from './command-error.js';
import { loadApi, requireVersion } from './load-api.js';
import { readVersionedDocument } from './read-documents.js';

/** Reads a document and its label. For `VERSION=FILE`, VERSION replaces the document's `info.version`. */
async function readLabeledDocument(file: string): Promise<{ document: unknown; label: string }> {
  const { document, version, label } = await readVersionedDocument(file);
  if (version === undefined) return { document, label };
  const content = objectOrEmpty(document);
  return { document: { ...content, info: { ...objectOrEmpty(content.info), version } }, label };
}

/** Generates the OpenAPI document for a module's operations at the version of the published document. */
async function generateDocument(module: string | undefined, published: unknown): Promise<unknown> {
  const api = await loadApi(module);
  const { version } = objectOrEmpty(objectOrEmpty(published).info);
  const { text } = requireVersion(api, String(version));
  return openApi(api.operations, { ...api.description, version: text });
}

const REPORT_FORMATTERS = {
  text: formatCheckText,
  github: formatCheckAnnotations,
  markdown: formatChangelogEntry,
  json: (result: CheckResult) => `${JSON.stringify(result, null, 2)}\n`,
} as const;

function addChangelogEntry(file: string, result: CheckResult): void {
  if (result.changes.length === 0) return;
  try {
    const existingChangelog = existsSync(file) ? readFileSync(file, 'utf8') : '';
    writeFileSync(file, insertChangelogEntry(existingChangelog, formatChangelogEntry(result)));
  } catch (error) {
    throw new CommandError(`Cannot write ${file}: ${(error as Error).message}`);
  }
}

/** Runs the command `check`. Sets the exit code to 1 if a change requires a new version. */
export async function check(command: Command): Promise<void> {
  const { against = '', files, operations, format, strict, changelog } = command;
  const published = await readLabeledDocument(against);
  const [file] = files;
  const current =
    file === undefined
      ? { document: await generateDocument(operations, published.document), label: operations ?? 'the compute API' }
      : await readLabeledDocument(file);
  const result = checkDocuments(published.document, current.document, { strict });
  const documentNames = { published: published.label, current: current.label };
  process.stdout.write(REPORT_FORMATTERS[format](result, documentNames));
  if (changelog !== undefined) addChangelogEntry(changelog, result);
  if (!result.passed) process.exitCode = 1;
}
