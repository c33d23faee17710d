import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createEngine, DatabaseInUse, Rejection } from '@apistrata/compute-engine';
import { databaseStatus, MaintenanceError } from '@apistrata/compute-engine/maintenance';
import { isSqliteFile, maskPassword } from '../database-url.js';
import { formatHelpRow, formatOptionRows, wrapParagraphs } from '../help-text.js';
import { flag } from '../option-kinds.js';
import { isHelpRequested, type OptionTable, readCommandLine } from '../read-options.js';
import { settingsFrom } from '../settings-from.js';
import { StartError } from '../start-error.js';
import {
  type AdminCommand,
  type AdminRequest,
  type DatabaseTarget,
  type EngineCommand,
  UsageError,
} from './admin-command.js';
import { callServer } from './control-socket.js';
import { databaseCommands } from './database-commands.js';
import { engineCommands } from './engine-commands.js';
import { findKeyFile } from './key-file.js';

const commands: Readonly<Record<string, AdminCommand>> = { ...databaseCommands, ...engineCommands };
const commonOptions = { json: flag('print the result as JSON') };

function helpText(): string {
  const rows = Object.entries(commands).flatMap(([name, { usage, summary, options = {} }]) => [
    ...formatHelpRow(`${name} ${usage}`.trim(), summary),
    ...formatOptionRows(options).map((row) => `  ${row}`),
  ]);
  return [
    'Usage: apistrata admin COMMAND [options]',
    '',
    ...wrapParagraphs(
      'Manages a database, even while servers use the database. Run the commands on the computer that stores the database, with the same --db, --config, --secret-key-file and environment as the server.',
    ),
    '',
    'Commands:',
    ...rows,
    '',
    'Options:',
    ...formatOptionRows(commonOptions),
    '',
    'Exit codes: 0 success, 1 failure, 2 invalid usage, 3 a check found a problem.',
  ].join('\n');
}

/** The options of all commands. The parser needs them to find the command's name among the arguments. */
const allOptions: OptionTable = Object.assign(
  { ...commonOptions },
  ...Object.values(commands).map(({ options }) => options),
);

/** Returns the name and the command that the first one or two arguments select. @throws UsageError */
function findCommand(args: readonly string[]): readonly [string, AdminCommand] {
  const name = [args.slice(0, 2).join(' '), args[0] ?? ''].find((candidate) => Object.hasOwn(commands, candidate));
  if (name !== undefined) return [name, commands[name] as AdminCommand];
  const subcommands = Object.keys(commands).filter((command) => command.startsWith(`${args[0]} `));
  const knownCommands = (subcommands.length > 0 ? subcommands : Object.keys(commands)).join(', ');
  throw new UsageError(
    `'${args.slice(0, 2).join(' ')}' is not a command. Known commands: ${knownCommands}. See admin --help.`,
  );
}

function databaseOf({ db }: DatabaseTarget['options']): string {
  if (db === ':memory:')
    throw new UsageError('an in-memory database exists only in its server process: select another database with --db');
  return isSqliteFile(db) ? resolve(db) : db;
}

/** Runs a command with a temporary engine, or, if a server has locked the database, in that server. */
async function runWithEngine(
  name: string,
  command: EngineCommand,
  target: DatabaseTarget,
  requested: AdminRequest,
): Promise<unknown> {
  command.check?.(requested);
  const { database, options, environment } = target;
  const { tables } = await databaseStatus(database);
  if (tables.pending.length > 0) throw new StartError(`the tables belong to an older version: run 'admin db migrate'`);
  try {
    const engine = await createEngine({
      database,
      secretKeyFile: findKeyFile(options, environment, database),
      settings: settingsFrom(options),
      // An empty preset adds no resources to the database.
      preset: {},
      worker: false,
    });
    return await command.run(engine, requested).finally(() => engine.close());
  } catch (error) {
    if (error instanceof DatabaseInUse) return callServer(database, { command: name, ...requested });
    throw error;
  }
}

/** Converts errors that administrators can fix to a StartError, which is printed as one line. Other errors are bugs. */
function startErrorOf(error: unknown, database: string): unknown {
  const isExpected = error instanceof MaintenanceError || error instanceof Rejection || error instanceof DatabaseInUse;
  const { code, message, cause } = error as { code?: string; message: string; cause?: Error };
  if (isExpected) return new StartError(message);
  if (code === 'DATABASE_UNAVAILABLE')
    return new StartError(`--db ${maskPassword(database)} cannot be used: ${cause?.message || message}`);
  return error;
}

/** The output and exit code of a command. */
export interface CommandResult {
  readonly output: string;
  readonly exitCode: number;
}

/**
 * Runs an admin command.
 * @throws StartError if the command fails, and UsageError for invalid usage
 */
export async function admin(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<CommandResult> {
  if (args.length === 0 || isHelpRequested(args)) return { output: helpText(), exitCode: args.length === 0 ? 2 : 0 };
  const [name, command] = findCommand(readCommandLine(args, environment, allOptions).positionals);
  const { positionals, own, options } = readCommandLine(args, environment, { ...commonOptions, ...command.options });
  const { json, ...ownOptions } = own;
  const request: AdminRequest = { arguments: positionals.slice(name.split(' ').length), own: ownOptions };
  const [min, max] = command.argumentCount;
  if (request.arguments.length < min || request.arguments.length > max)
    throw new UsageError(`${name} takes ${command.usage || 'no arguments'}`.trimEnd());
  const database = databaseOf(options);
  if (isSqliteFile(database) && name !== 'db restore' && !existsSync(database))
    throw new StartError(`the database ${database} does not exist: use the same --db as the server`);
  const target = { database, options, environment };
  try {
    const result =
      command.on === 'database'
        ? await command.run(target, request)
        : await runWithEngine(name, command, target, request);
    const output = json ? JSON.stringify(result, null, 2) : command.text(result);
    return { output, exitCode: command.exitCode?.(result) ?? 0 };
  } catch (error) {
    throw startErrorOf(error, database);
  }
}
