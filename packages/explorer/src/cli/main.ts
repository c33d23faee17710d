#!/usr/bin/env node
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { changesBetween, openApi } from '@apistrata/microversion-router';
import { ExplorerError } from '../errors.js';
import { changesMarkdown } from '../markdown.js';
import { apiChanges } from '../model/api-changes.js';
import { VersionRange } from '../model/versions.js';
import { versionedTypes } from '../types/versioned-types.js';
import { build } from './build.js';
import { check } from './check.js';
import { type Command, helpText, parseCommandLine, requireVersions } from './command.js';
import { CommandError } from './command-error.js';
import { type LoadedApi, loadApi, requireVersion } from './load-api.js';
import { readDocumentedApi } from './page-options.js';
import { serve } from './serve.js';

/** The output of a command: a string, or file contents by file name. */
type Output = string | ReadonlyMap<string, string>;

const formatJson = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const OUTPUT_GENERATORS: {
  readonly [name in 'openapi' | 'types' | 'changes']: (command: Command, api: LoadedApi) => Output;
} = {
  openapi(command, api) {
    const { operations, description, versions } = api;
    const document = (version: string) =>
      formatJson(openApi(operations, { ...description, version, actions: command.actions }));
    const first = command.version === undefined ? versions.max : requireVersion(api, command.version);
    if (command.to === undefined) return document(first.text);
    const last = requireVersion(api, command.to);
    const selectedVersions = versions.all.filter((version) => version.within(first, last));
    if (selectedVersions.length === 0) throw reversedRangeError(first.text, last.text);
    return new Map(selectedVersions.map(({ text }) => [`openapi-${text}.json`, document(text)]));
  },
  types(command, api) {
    const min = command.version === undefined ? api.versions.min : requireVersion(api, command.version);
    const max = command.to === undefined ? api.versions.max : requireVersion(api, command.to);
    if (min.compare(max) > 0) throw reversedRangeError(min.text, max.text);
    return versionedTypes(api.operations, { title: api.description.title, min, max });
  },
  changes(command, api) {
    const { format } = command;
    const { version, to } = requireVersions(command);
    const [from, until] = [requireVersion(api, version), requireVersion(api, to)];
    if (from.compare(until) > 0) throw reversedRangeError(from.text, until.text);
    const changes = changesBetween(api.operations, from, until);
    return format === 'json'
      ? formatJson({ from: from.text, to: until.text, changes })
      : changesMarkdown(api.description.title, from.text, until.text, changes);
  },
};

/** Commands that write their results themselves instead of returning an output. */
const COMMAND_RUNNERS = { serve, build, check } as const;

/**
 * Returns the changes between OpenAPI documents, from --version (default: the lowest) to --to (default: the highest).
 */
async function changesBetweenDocuments({ files, version, to: last, format }: Command): Promise<Output> {
  const { operations, versions = [], title = 'API' } = await readDocumentedApi(files);
  const range = VersionRange.of(versions);
  const findVersion = (text: string) => {
    const found = range.find(text);
    if (!found) throw new CommandError(`No document has the version ${text}: the versions are ${range.all.join(', ')}`);
    return found;
  };
  const [from, to] = [findVersion(version ?? range.min.text), findVersion(last ?? range.max.text)];
  if (from.compare(to) > 0) throw reversedRangeError(from.text, to.text);
  const changes = apiChanges(operations, from, to);
  return format === 'json'
    ? formatJson({ from: from.text, to: to.text, changes })
    : changesMarkdown(title, from.text, to.text, changes);
}

function reversedRangeError(version: string, to: string): CommandError {
  return new CommandError(`--version ${version} is greater than --to ${to}`);
}

async function write(output: Output, out: string | undefined): Promise<void> {
  if (out === undefined) {
    if (typeof output !== 'string')
      throw new CommandError('The command writes several files: set the output folder with --out');
    process.stdout.write(output);
    return;
  }
  const files =
    typeof output === 'string'
      ? [[out, output] as const]
      : [...output].map(([name, text]) => [join(out, name), text] as const);
  for (const [file, text] of files) {
    try {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    } catch (error) {
      throw new CommandError(`Cannot write ${file}: ${(error as Error).message}`);
    }
  }
}

async function run(args: readonly string[]): Promise<void> {
  const command = parseCommandLine(args);
  if (!command) {
    process.stdout.write(helpText());
    return;
  }
  const { name, files, operations, out } = command;
  if (name === 'serve' || name === 'build' || name === 'check') return COMMAND_RUNNERS[name](command);
  if (files.length > 0) return write(await changesBetweenDocuments(command), out);
  await write(OUTPUT_GENERATORS[name](command, await loadApi(operations)), out);
}

// The program that reads the output may close the pipe early, as in `... | head`.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));

run(process.argv.slice(2)).catch((error: Error) => {
  const isExpected = error instanceof ExplorerError;
  process.stderr.write(`${isExpected ? error.message : error.stack}\n`);
  process.exitCode = isExpected ? 2 : 1;
});
