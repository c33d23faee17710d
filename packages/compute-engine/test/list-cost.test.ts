import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import { populateServers } from '../src/testing/populate-servers.js';
import { contextOf, engineUnderTest } from './engine-under-test.js';
import { listenTo, type RecordedQuery } from './listen-to.js';
import { storesUnderTest } from './stores-under-test.js';

const PROJECTS = 6;
const EACH = 20;

describe.each(storesUnderTest(inject('postgresUrl')))('a page of servers on $kind', ({ kind, database }) => {
  let engine: Engine;
  const requested: RecordedQuery[] = [];
  const page = (projectId: string) => engine.servers.list(contextOf(projectId), { limit: EACH });

  beforeAll(async () => {
    engine = await engineUnderTest({ database: await database() });
    const owners = Array.from({ length: PROJECTS }, (_, n) => ({ projectId: `p${n}`, userId: 'ada' }));
    await populateServers(engine, { count: PROJECTS * EACH, owners });
    listenTo(coreOf(engine).store.db, 'own', requested);
  }, 120_000);
  afterAll(() => engine?.close());

  it('is one query, even if its records were never read before', async () => {
    await page('p0');
    for (const projectId of ['p1', 'p1', 'p2', 'p3']) {
      requested.length = 0;
      expect((await page(projectId)).map((server) => server.projectId)).toEqual(Array(EACH).fill(projectId));
      const texts = requested.map(({ query: { sql } }) => sql);
      expect(texts.filter((text) => /^select "id", .* from "servers"/.test(text))).toHaveLength(1);
      expect(texts.filter((text) => /where "seq"|^select exists/.test(text))).toEqual([]);
    }
  });

  it('uses a statement that is built once for all projects and positions', async () => {
    // Caches the records first, because a page with records that are not cached is read with a different statement.
    for (const project of ['p1', 'p1', 'p1', 'p0', 'p0']) await page(project);
    const [first, second] = await page('p0');
    const marker = first?.id;
    const written: unknown[] = [];
    for (const behind of [undefined, marker, undefined, marker]) {
      const projectId = behind ? 'p0' : 'p1';
      requested.length = 0;
      const servers = await engine.servers.list(contextOf(projectId), { limit: 2, marker: behind });
      expect(servers.map((server) => server.projectId)).toEqual([projectId, projectId]);
      if (behind) expect(servers[0]).toEqual(second);
      written.push(
        ...requested.filter(({ query: { sql } }) => sql.includes('"waits"')).map(({ query }) => query.query),
      );
    }
    const [front, behind, frontAgain, behindAgain, ...others] = written;
    expect(others).toEqual([]);
    expect([frontAgain === front, behindAgain === behind, behind === front]).toEqual([true, true, false]);
  });

  it('is cached from its second read on', async () => {
    const [first, second, third] = [await page('p4'), await page('p4'), await page('p4')];
    expect(second).toEqual(first);
    expect(second[0]).not.toBe(first[0]);
    third.forEach((server, index) => {
      expect(server).toBe(second[index]);
    });
  });

  it('is read again after another process has changed it', async () => {
    const [server] = await page('p5');
    await page('p5');
    await engine.servers.update(contextOf('p5'), server!.id, { name: 'another' });
    expect((await page('p5'))[0]).toMatchObject({ id: server!.id, name: 'another' });
  });

  it.runIf(kind === 'SQLite')('uses statements that are not parsed again for another limit', () => {
    const query = coreOf(engine).store.db.selectFrom('servers').select('id').limit(5).compile();
    // SQLite would plan again for each value of a bare parameter. See the query compiler.
    expect(query.sql).toMatch(/limit \(\? \+ 0\)$/);
    expect(query.parameters).toEqual([5]);
  });
});
