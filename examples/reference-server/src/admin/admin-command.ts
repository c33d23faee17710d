import type { Engine } from '@apistrata/compute-engine';
import type { Options } from '../options.js';
import type { OptionTable } from '../read-options.js';
import { StartError } from '../start-error.js';

/** What is asked of a command beside its name. JSON, for it may have to travel. */
export interface Asked {
  readonly words: readonly string[];
  /** Values of the command's own options. */
  readonly own: Readonly<Record<string, any>>;
}

/** The database that a command is about, and what its server was told. */
export interface DatabasePlace {
  readonly database: string;
  readonly options: Options;
  readonly environment: NodeJS.ProcessEnv;
}

interface Shape<Result> {
  /** What follows the name, as the help shows it. */
  readonly usage: string;
  readonly summary: string;
  /** How many words follow the name: at least and at the most. */
  readonly words: readonly [number, number];
  readonly options?: OptionTable;
  /** The result for people. */
  text(result: Result): string;
  /** How the program ends; default 0. */
  exitCode?(result: Result): number;
}

/** A command that works on the database itself, beside whoever uses it. */
export interface DatabaseCommand<Result = any> extends Shape<Result> {
  readonly on: 'database';
  run(place: DatabasePlace, asked: Asked): Promise<Result>;
}

/** A command that works through an engine: its own one, or that of the server that has the database for itself. */
export interface EngineCommand<Result = any> extends Shape<Result> {
  readonly on: 'engine';
  /** Checks what can be checked before anything is opened. @throws UsageError */
  check?(asked: Asked): void;
  run(engine: Engine, asked: Asked): Promise<Result>;
}

export type AdminCommand = DatabaseCommand | EngineCommand;

/** A command that was not understood. The program ends with 2. */
export class UsageError extends StartError {
  override readonly exitCode = 2;
}

/** Rows as columns of the width they need. */
export function columns(rows: readonly (readonly unknown[])[]): string {
  const texts = rows.map((row) => row.map((cell) => String(cell ?? '-')));
  const widths = texts[0]?.map((_, column) => Math.max(...texts.map((row) => row[column]!.length))) ?? [];
  return texts
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
