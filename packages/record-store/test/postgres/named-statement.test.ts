import pg from 'pg';
import { beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest';
import { executeStatement, type PostgresClient } from '../../src/postgres/postgres-query.js';

const postgresUrl = inject('postgresUrl');

describe.skipIf(!postgresUrl)('prepared statements', () => {
  let client: PostgresClient;
  let descriptions = 0;

  beforeEach(async () => {
    const opened = new pg.Client({ connectionString: postgresUrl, pipeline: true } as pg.ClientConfig);
    await opened.connect();
    onTestFinished(() => opened.end());
    client = opened as unknown as PostgresClient;
    descriptions = 0;
    const { connection } = opened as unknown as { readonly connection: NodeJS.EventEmitter };
    connection.on('rowDescription', () => descriptions++);
  });

  const values = (one: unknown) =>
    executeStatement(
      client,
      "select $1::bigint as one, null as none, true as yes, 'b' as text, 1.5::float8 as half",
      [one],
      'v',
    );

  it('return the same rows with each execution, and are described once', async () => {
    for (const one of [1, 2, 3])
      expect((await values(one)).rows).toEqual([{ one, none: null, yes: true, text: 'b', half: 1.5 }]);
    expect(descriptions).toBe(1);
  });

  it('are described again until the first description is received', async () => {
    const results = await Promise.all([1, 2].map(values));
    expect(results.map(({ rows }) => rows)).toMatchObject([[{ one: 1 }], [{ one: 2 }]]);
    await values(3);
    expect(descriptions).toBe(2);
  });

  it('report their commands and the number of their rows', async () => {
    await executeStatement(client, 'create temp table notes (id integer)');
    const insert = () => executeStatement(client, 'insert into notes values (1), (2)', [], 'i');
    for (let round = 0; round < 2; round++) {
      expect(await insert()).toEqual({ command: 'INSERT', rowCount: 2, rows: [] });
      expect(await executeStatement(client, 'update notes set id = 3 where id < $1', [3], 'u')).toMatchObject({
        command: 'UPDATE',
        rowCount: 2,
      });
    }
    const all = () => executeStatement(client, 'select id from notes where id > $1', [0], 's');
    for (let round = 0; round < 2; round++)
      expect(await all()).toMatchObject({ command: 'SELECT', rowCount: 4, rows: Array(4).fill({ id: 3 }) });
  });

  it('fail individually, and can be executed again', async () => {
    const divide = (by: number) => executeStatement(client, 'select 10 / $1::integer as result', [by], 'd');
    const outcomes = await Promise.allSettled([divide(0), divide(2), divide(0), divide(5)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled']);
    expect((await divide(10)).rows).toEqual([{ result: 1 }]);
  });
});
