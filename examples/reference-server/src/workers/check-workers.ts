import { isFile } from '../database-url.js';
import type { Options } from '../options.js';
import { StartError } from '../start-error.js';

/** Checks that `--workers` goes with the others. @throws StartError */
export function checkWorkers({ workers, db, driver }: Options): void {
  if (workers === undefined) return;
  if (isFile(db) || db === ':memory:')
    throw new StartError(
      `--workers ${workers} needs --db postgres://...: a SQLite database has one process, which --workers would replace by several`,
    );
  if (driver === 'qemu')
    throw new StartError(
      `--workers ${workers} does not go with --driver qemu, for one process leads the machines of a computer: take --driver none, and 'apistrata host' beside`,
    );
}
