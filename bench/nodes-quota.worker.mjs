// Reserves and commits quotas on SQLite files, each with its own driver. The first message to the parent contains the
// error if this Node version cannot load a driver. A message { driver, amount } from the parent measures that number of
// sequential reservations.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { projectQuotas } from '@apistrata/quota';
import { sqlite, sqlStore } from '@apistrata/quota/sql';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-nodes-quota-'));
const connections = [];
process.on('disconnect', () => {
  for (const connection of connections) connection.close();
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});

async function quotaOn(connection) {
  connections.push(connection);
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  const store = sqlStore({ database: sqlite(connection) });
  await store.createSchema();
  return projectQuotas({ preset: 'key-manager', store, defaults: { secrets: -1 }, sweepIntervalMs: 0 });
}

async function open() {
  const { default: Database } = await import('better-sqlite3');
  return {
    'node:sqlite': await quotaOn(new DatabaseSync(join(folder, 'node.db'))),
    'better-sqlite3': await quotaOn(new Database(join(folder, 'better.db'))),
  };
}

const opened = await open().catch((error) => {
  process.send({ missing: error.message.split('\n')[0] });
});
if (opened) {
  process.on('message', async ({ driver, amount }) => {
    const before = process.cpuUsage();
    for (let n = 0; n < amount; n++) await (await opened[driver].reserve('p', { secrets: 1 })).commit();
    const { user, system } = process.cpuUsage(before);
    process.send({ microseconds: (user + system) / amount });
  });
  process.send({});
}
