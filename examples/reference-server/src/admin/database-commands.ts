import { createEngine } from '@apistrata/compute-engine';
import {
  type BackupReport,
  backupDatabase,
  checkDatabase,
  type DatabaseStatus,
  databaseStatus,
  type Finding,
  type RestoreReport,
  restoreDatabase,
} from '@apistrata/compute-engine/maintenance';
import { maskPassword } from '../database-url.js';
import { flag } from '../option-kinds.js';
import { type DatabaseCommand, formatColumns } from './admin-command.js';
import { hostRoleCommand } from './host-role-command.js';
import { findKeyFile } from './key-file.js';

const MEBIBYTE = 1024 * 1024;
const formatSize = (bytes: number) => `${(bytes / MEBIBYTE).toFixed(1)} MiB`;
const formatNames = (names: readonly string[]) => (names.length === 0 ? 'none' : names.join(', '));

interface StatusResult extends DatabaseStatus {
  readonly database: string;
}

const statusCommand: DatabaseCommand<StatusResult> = {
  on: 'database',
  usage: '',
  summary: 'show the database, its processes, servers and jobs',
  argumentCount: [0, 0],
  run: async ({ database }) => ({ database: maskPassword(database), ...(await databaseStatus(database)) }),
  text: ({ database, bytes, usedBy, tables, servers, work }) => {
    const serverStates = Object.entries(servers).map(([state, n]) => `${n} ${state}`);
    return formatColumns([
      ['database', `${database} (${formatSize(bytes)})`],
      ['used by', usedBy ?? 'no process'],
      [
        'tables',
        `at ${tables.newestChange ?? 'no migration'}; pending: ${formatNames(tables.pending)}; of a newer version: ${formatNames(tables.newer)}`,
      ],
      ['servers', formatNames(serverStates)],
      [
        'work',
        `${work.jobs} jobs, ${work.running} running, the oldest overdue by ${Math.round(work.overdueMs / 1000)} s`,
      ],
    ]);
  },
};

const migrateCommand: DatabaseCommand<{ from: string | null; to: string | null }> = {
  on: 'database',
  usage: '',
  summary: 'migrate the tables to this version; on PostgreSQL, servers of this and the previous version keep running',
  argumentCount: [0, 0],
  run: async ({ database, options, environment }) => {
    const previousStatus = await databaseStatus(database);
    const secretKeyFile = findKeyFile(options, environment, database);
    await (await createEngine({ database, secretKeyFile, preset: {}, worker: false })).close();
    return {
      from: previousStatus.tables.newestChange,
      to: (await databaseStatus(database)).tables.newestChange ?? null,
    };
  },
  text: ({ from, to }) => (from === to ? `The tables are up to date (${to}).` : `The tables were migrated to ${to}.`),
};

const checkCommand: DatabaseCommand<{ findings: readonly Finding[] }> = {
  on: 'database',
  usage: '',
  summary: 'check tables, database file, secrets and jobs; exits with 3 if a check finds a problem',
  argumentCount: [0, 0],
  run: async ({ database, options, environment }) => ({
    findings: await checkDatabase(database, { secretKeyFile: findKeyFile(options, environment, database) }),
  }),
  text: ({ findings }) =>
    formatColumns(findings.map(({ what, good, reported }) => [good ? 'good' : 'BAD', what, reported])),
  exitCode: ({ findings }) => (findings.every(({ good }) => good) ? 0 : 3),
};

const backupCommand: DatabaseCommand<BackupReport> = {
  on: 'database',
  usage: 'FILE',
  summary: 'write a consistent copy of the database while servers use it',
  argumentCount: [1, 1],
  run: ({ database, options }, { arguments: [file = ''] }) =>
    backupDatabase(database, file, { imageDirectory: options['image-dir'] }),
  text: ({ file, bytes, images }) =>
    `${file} (${formatSize(bytes)})${images > 0 ? ` and ${file}.images (${images} files) contain` : ' contains'} the whole database. Its secrets are encrypted: store the secret key too, in another place.`,
};

const restoreCommand: DatabaseCommand<RestoreReport> = {
  on: 'database',
  usage: 'FILE',
  summary: 'replace the database with a backup; stop all API and host processes first',
  argumentCount: [1, 1],
  options: { replace: flag('rename an existing database before replacing it') },
  run: ({ database, options }, { arguments: [file = ''], own }) =>
    restoreDatabase(database, file, { replace: own.replace, imageDirectory: options['image-dir'] }),
  text: ({ previous, pending }) =>
    [
      'The backup is restored.',
      ...(previous ? [`The previous database was renamed to ${previous}.`] : []),
      ...(pending.length > 0 ? [`The next start migrates its tables: ${pending.join(', ')}.`] : []),
    ].join(' '),
};

/** Commands that use the database directly. */
export const databaseCommands = {
  status: statusCommand,
  'db check': checkCommand,
  'db migrate': migrateCommand,
  'db backup': backupCommand,
  'db restore': restoreCommand,
  'host-role': hostRoleCommand,
};
