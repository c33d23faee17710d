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
import { withoutPassword } from '../database-url.js';
import { flag } from '../option-kinds.js';
import { columns, type DatabaseCommand } from './admin-command.js';
import { keyFileOf } from './key-file.js';

const MEBIBYTE = 1024 * 1024;
const size = (bytes: number) => `${(bytes / MEBIBYTE).toFixed(1)} MiB`;
const listed = (names: readonly string[]) => (names.length === 0 ? 'none' : names.join(', '));

interface Status extends DatabaseStatus {
  readonly database: string;
}

const status: DatabaseCommand<Status> = {
  on: 'database',
  usage: '',
  summary: 'show the database, its processes, servers and jobs',
  words: [0, 0],
  run: async ({ database }) => ({ database: withoutPassword(database), ...(await databaseStatus(database)) }),
  text: ({ database, bytes, usedBy, tables, servers, work }) => {
    const states = Object.entries(servers).map(([state, n]) => `${n} ${state}`);
    return columns([
      ['database', `${database} (${size(bytes)})`],
      ['used by', usedBy ?? 'nobody'],
      [
        'tables',
        `at ${tables.at ?? 'nothing'}; to be made: ${listed(tables.pending)}; of a newer version: ${listed(tables.newer)}`,
      ],
      ['servers', listed(states)],
      ['work', `${work.jobs} jobs, ${work.running} running, the oldest due for ${Math.round(work.overdueMs / 1000)} s`],
    ]);
  },
};

const migrate: DatabaseCommand<{ from: string | null; to: string }> = {
  on: 'database',
  usage: '',
  summary: 'migrate the tables to this version; on PostgreSQL, servers of this and the previous version keep running',
  words: [0, 0],
  run: async ({ database, options, environment }) => {
    const before = await databaseStatus(database);
    const secretKeyFile = keyFileOf(options, environment, database);
    await (await createEngine({ database, secretKeyFile, preset: {}, worker: false })).close();
    return { from: before.tables.at, to: (await databaseStatus(database)).tables.at! };
  },
  text: ({ from, to }) => (from === to ? `The tables are up to date (${to}).` : `The tables are at ${to} now.`),
};

const check: DatabaseCommand<{ findings: readonly Finding[] }> = {
  on: 'database',
  usage: '',
  summary: 'check tables, file, secrets and jobs; exits with 3 if a check finds a problem',
  words: [0, 0],
  run: async ({ database, options, environment }) => ({
    findings: await checkDatabase(database, { secretKeyFile: keyFileOf(options, environment, database) }),
  }),
  text: ({ findings }) => columns(findings.map(({ what, good, told }) => [good ? 'good' : 'BAD', what, told])),
  exitCode: ({ findings }) => (findings.every(({ good }) => good) ? 0 : 3),
};

const backup: DatabaseCommand<BackupReport> = {
  on: 'database',
  usage: 'FILE',
  summary: 'write a consistent copy of the database while servers use it',
  words: [1, 1],
  run: ({ database, options }, { words }) =>
    backupDatabase(database, words[0]!, { imageDirectory: options['image-dir'] }),
  text: ({ file, bytes, images }) =>
    `${file} (${size(bytes)})${images > 0 ? ` and ${file}.images (${images} files)` : ''} hold all of it. What is secret in it is sealed: keep the secret key too, in another place.`,
};

const restore: DatabaseCommand<RestoreReport> = {
  on: 'database',
  usage: 'FILE',
  summary: 'replace the database with a backup; no server may use it meanwhile',
  words: [1, 1],
  options: { replace: flag('allow an existing database; it is kept under another name') },
  run: ({ database, options }, { words, own }) =>
    restoreDatabase(database, words[0]!, { replace: own.replace, imageDirectory: options['image-dir'] }),
  text: ({ kept, pending }) =>
    [
      'The backup is in its place.',
      ...(kept ? [`What was there is kept as ${kept}.`] : []),
      ...(pending.length > 0 ? [`The next start brings its tables up to date: ${pending.join(', ')}.`] : []),
    ].join(' '),
};

/** Commands that look at the database itself. */
export const databaseCommands = {
  status,
  'db check': check,
  'db migrate': migrate,
  'db backup': backup,
  'db restore': restore,
};
