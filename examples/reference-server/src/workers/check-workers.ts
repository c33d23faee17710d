import { isSqliteFile } from '../database-url.js';
import type { Options } from '../options.js';
import { StartError } from '../start-error.js';

/** Checks that `--workers` is compatible with the other options. @throws StartError */
export function checkWorkers({ workers, db, driver }: Options): void {
  if (workers === undefined) return;
  if (isSqliteFile(db) || db === ':memory:')
    throw new StartError(
      `--workers ${workers} needs --db postgres://...: only one process can use a SQLite database, and --workers starts several`,
    );
  if (driver === 'qemu')
    throw new StartError(
      `--workers ${workers} cannot be combined with --driver qemu, because one process controls the machines of a computer: use --driver none, and run 'apistrata host' in addition`,
    );
}
