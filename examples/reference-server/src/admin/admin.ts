import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createEngine, DatabaseInUse, Refusal } from '@apistrata/compute-engine';
import { databaseStatus, OperatingError } from '@apistrata/compute-engine/maintenance';
import { isFile, withoutPassword } from '../database-url.js';
import { helpRow, optionRows, paragraphs } from '../help-text.js';
import { flag } from '../option-kinds.js';
import { asksForHelp, type OptionTable, readCommandLine } from '../read-options.js';
import { settingsFrom } from '../settings-from.js';
import { StartError } from '../start-error.js';
import { type AdminCommand, type Asked, type DatabasePlace, type EngineCommand, UsageError } from './admin-command.js';
import { askServer } from './control-socket.js';
import { databaseCommands } from './database-commands.js';
import { engineCommands } from './engine-commands.js';
import { keyFileOf } from './key-file.js';

const commands: Readonly<Record<string, AdminCommand>> = { ...databaseCommands, ...engineCommands };
const common = { json: flag('print the result as JSON') };

function helpText(): string {
  const rows = Object.entries(commands).flatMap(([name, { usage, summary, options = {} }]) => [
    ...helpRow(`${name} ${usage}`.trim(), summary),
    ...optionRows(options).map((row) => `  ${row}`),
  ]);
  return [
    'Usage: apistrata admin COMMAND [options]',
    '',
    ...paragraphs(
      'Commands for operators, run on the computer of the database. They work while servers use the database. --db, --config, --secret-key-file and the environment are those of the server.',
    ),
    '',
    'Commands:',
    ...rows,
    '',
    'Options:',
    ...optionRows(common),
    '',
    'Exit codes: 0 success, 1 failure, 2 invalid usage, 3 a check found a problem.',
  ].join('\n');
}

/** The options of all commands, to find the words between them. */
const anyOptions: OptionTable = Object.assign({ ...common }, ...Object.values(commands).map(({ options }) => options));

/** The command that the first words name. */
function commandIn(words: readonly string[]): readonly [string, AdminCommand] {
  const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((candidate) => Object.hasOwn(commands, candidate));
  if (name !== undefined) return [name, commands[name]!];
  const family = Object.keys(commands).filter((known) => known.startsWith(`${words[0]} `));
  const there = (family.length > 0 ? family : Object.keys(commands)).join(', ');
  throw new UsageError(
    `'${words.slice(0, 2).join(' ')}' is not a command. Known commands: ${there}. See admin --help.`,
  );
}

function databaseOf({ db }: DatabasePlace['options']): string {
  if (db === ':memory:') throw new UsageError('a database in memory is gone with its server: --db names another');
  return isFile(db) ? resolve(db) : db;
}

/** Carries a command out with an engine of its own, or by the server that has the database for itself. */
async function withEngine(name: string, command: EngineCommand, place: DatabasePlace, asked: Asked): Promise<unknown> {
  command.check?.(asked);
  const { database, options, environment } = place;
  const { tables } = await databaseStatus(database);
  if (tables.pending.length > 0)
    throw new StartError(`the tables are those of an older version: 'admin db migrate' brings them up to date`);
  try {
    const engine = await createEngine({
      database,
      secretKeyFile: keyFileOf(options, environment, database),
      settings: settingsFrom(options),
      // Nothing is added to what the database has.
      preset: {},
      worker: false,
    });
    return await command.run(engine, asked).finally(() => engine.close());
  } catch (error) {
    if (error instanceof DatabaseInUse) return askServer(database, { command: name, ...asked });
    throw error;
  }
}

/** What operators can mend themselves is said in a line; anything else is an error of ours. */
function told(error: unknown, database: string): unknown {
  const known = error instanceof OperatingError || error instanceof Refusal || error instanceof DatabaseInUse;
  const { code, message, cause } = error as { code?: string; message: string; cause?: Error };
  if (known) return new StartError(message);
  if (code === 'DATABASE_UNAVAILABLE')
    return new StartError(`--db ${withoutPassword(database)} cannot be used: ${cause?.message || message}`);
  return error;
}

/** What a command came to. */
export interface Outcome {
  readonly output: string;
  /** What the program ends with. */
  readonly exitCode: number;
}

/**
 * The command line of operators.
 * @throws StartError, and UsageError for what is no command
 */
export async function admin(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<Outcome> {
  if (args.length === 0 || asksForHelp(args)) return { output: helpText(), exitCode: args.length === 0 ? 2 : 0 };
  const [name, command] = commandIn(readCommandLine(args, environment, anyOptions).words);
  const { words, own, options } = readCommandLine(args, environment, { ...common, ...command.options });
  const { json, ...ownOptions } = own;
  const asked: Asked = { words: words.slice(name.split(' ').length), own: ownOptions };
  const [least, most] = command.words;
  if (asked.words.length < least || asked.words.length > most)
    throw new UsageError(`${name} takes ${command.usage || 'nothing more'}`.trimEnd());
  const database = databaseOf(options);
  if (isFile(database) && name !== 'db restore' && !existsSync(database))
    throw new StartError(`there is no database ${database}: name the one that the server uses with --db`);
  const place = { database, options, environment };
  try {
    const result =
      command.on === 'database' ? await command.run(place, asked) : await withEngine(name, command, place, asked);
    const output = json ? JSON.stringify(result, null, 2) : command.text(result);
    return { output, exitCode: command.exitCode?.(result) ?? 0 };
  } catch (error) {
    throw told(error, database);
  }
}
