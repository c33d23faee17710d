import type { Engine } from '@apistrata/compute-engine';
import type { Options } from '../options.js';
import type { OptionTable } from '../read-options.js';
import { StartError } from '../start-error.js';

/** The arguments and options of an admin command, as JSON values, because the command may run in the server process. */
export interface AdminRequest {
  readonly arguments: readonly string[];
  /** Values of the options that only this command accepts. */
  readonly own: Readonly<Record<string, any>>;
}

/** The database that a command uses, with the options and environment of the program. */
export interface DatabaseTarget {
  readonly database: string;
  readonly options: Options;
  readonly environment: NodeJS.ProcessEnv;
}

interface CommandDefinition<Result> {
  /** The arguments after the command's name, as the help shows them: `PROJECT NAME=N ...`. */
  readonly usage: string;
  readonly summary: string;
  /** The minimum and maximum number of arguments. */
  readonly argumentCount: readonly [number, number];
  readonly options?: OptionTable;
  /** Formats the result as text. */
  text(result: Result): string;
  /** Returns the program's exit code for a result. Default: 0. */
  exitCode?(result: Result): number;
}

/** A command that uses the database directly, concurrently with servers. */
export interface DatabaseCommand<Result = any> extends CommandDefinition<Result> {
  readonly on: 'database';
  run(target: DatabaseTarget, requested: AdminRequest): Promise<Result>;
}

/** A command that uses an engine: a temporary one, or, if a server has locked the database, that server's engine. */
export interface EngineCommand<Result = any> extends CommandDefinition<Result> {
  readonly on: 'engine';
  /** Validates the arguments before the database is opened. @throws UsageError */
  check?(request: AdminRequest): void;
  run(engine: Engine, request: AdminRequest): Promise<Result>;
}

export type AdminCommand = DatabaseCommand | EngineCommand;

/** Thrown for invalid usage. The program's exit code is 2. */
export class UsageError extends StartError {
  override readonly exitCode = 2;
}

/** Formats rows as aligned columns. */
export function formatColumns(rows: readonly (readonly unknown[])[]): string {
  const cellTexts = rows.map((row) => row.map((cell) => String(cell ?? '-')));
  const columnWidths =
    cellTexts[0]?.map((_, column) => Math.max(...cellTexts.map((row) => (row[column] ?? '').length))) ?? [];
  return cellTexts
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(columnWidths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
