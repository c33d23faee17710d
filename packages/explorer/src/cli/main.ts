#!/usr/bin/env node
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { changesBetween, openApi } from '@apistrata/microversion/router';
import { changesMarkdown } from '../markdown.js';
import { versionedTypes } from '../types/versioned-types.js';
import { type Command, comparedVersions, helpText, readCommand } from './command.js';
import { CommandError } from './command-error.js';
import { type LoadedApi, loadApi, versionIn } from './load-api.js';

/** The output of a command: a string, or files by name. */
type Made = string | ReadonlyMap<string, string>;

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const MAKERS: { readonly [name in Command['name']]: (command: Command, api: LoadedApi) => Made } = {
  openapi(command, api) {
    const { operations, description, versions } = api;
    const document = (version: string) =>
      json(openApi(operations, { ...description, version, actions: command.actions }));
    const first = command.version === undefined ? versions.max : versionIn(api, command.version);
    if (command.to === undefined) return document(first.text);
    const last = versionIn(api, command.to);
    const selected = versions.all.filter((version) => version.within(first, last));
    if (selected.length === 0) throw swapped(first.text, last.text);
    return new Map(selected.map(({ text }) => [`openapi-${text}.json`, document(text)]));
  },
  types(command, api) {
    const min = command.version === undefined ? api.versions.min : versionIn(api, command.version);
    const max = command.to === undefined ? api.versions.max : versionIn(api, command.to);
    if (min.compare(max) > 0) throw swapped(min.text, max.text);
    return versionedTypes(api.operations, { title: api.description.title, min, max });
  },
  changes(command, api) {
    const { format } = command;
    const { version, to } = comparedVersions(command);
    const [from, until] = [versionIn(api, version), versionIn(api, to)];
    if (from.compare(until) > 0) throw swapped(from.text, until.text);
    const changes = changesBetween(api.operations, from, until);
    return format === 'json'
      ? json({ from: from.text, to: until.text, changes })
      : changesMarkdown(api.description.title, from.text, until.text, changes);
  },
};

function swapped(version: string, to: string): CommandError {
  return new CommandError(`--version ${version} is greater than --to ${to}`);
}

async function write(made: Made, out: string | undefined): Promise<void> {
  if (out === undefined) {
    if (typeof made !== 'string') throw new CommandError('Several files are written: set the output folder with --out');
    process.stdout.write(made);
    return;
  }
  const files =
    typeof made === 'string'
      ? [[out, made] as const]
      : [...made].map(([name, text]) => [join(out, name), text] as const);
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
  const command = readCommand(args);
  if (!command) {
    process.stdout.write(helpText());
    return;
  }
  const api = await loadApi(command.operations);
  await write(MAKERS[command.name](command, api), command.out);
}

// The reader of a pipe may close it early, as in `... | head`.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));

run(process.argv.slice(2)).catch((error: Error) => {
  const readable = error instanceof CommandError;
  process.stderr.write(`${readable ? error.message : error.stack}\n`);
  process.exitCode = readable ? 2 : 1;
});
