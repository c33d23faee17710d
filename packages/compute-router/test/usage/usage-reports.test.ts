import { ManualClock } from '@apistrata/compute-engine/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '../api-under-test.js';
import { BEGIN, text, usageApi } from './usage-api.js';

describe('a usage report of one cloud', () => {
  const clock = new ManualClock(BEGIN);
  let api: Api;
  let ids: string[];
  beforeAll(async () => {
    api = await usageApi(clock);
    const booted = [];
    for (const project of ['b', 'a', 'b', 'a']) booted.push(await api.as(`ada:${project}`, '2.37').boot());
    ids = booted.map(({ id }) => id);
    await clock.advance(3_600_000);
  });
  afterAll(() => api.close());

  const path = '/os-simple-tenant-usage';
  const full = `start=${text(0)}&end=${text(3600)}`;

  it.each([
    [text(60), `${text(60)}.000000`],
    [`${text(60)}.5`, `${text(60)}.500000`],
    [`${text(60)}.123456`, `${text(60)}.123456`],
    [`${text(60).replace('T', ' ')}.25`, `${text(60)}.250000`],
  ])('parses %s as a time', async (start, shown) => {
    const { body } = await api.as('admin:p1').get(`${path}?${new URLSearchParams({ start, end: text(120) })}`);
    expect(body.tenant_usages[0].start).toBe(shown);
  });

  it('measures with microsecond precision', async () => {
    const { body } = await api.as('admin:p1').get(`${path}?start=${text(0)}.000001&end=${text(0)}.000004`);
    expect(body.tenant_usages[0].total_hours).toBe(6 / 3_600_000_000);
  });

  it.each(['yesterday', '2026-02-30T00:00:00', '2026-01-01', '2026-01-01 00:00:00', '2026-01-01T00:00:00Z', '\0'])(
    'rejects %j as a time',
    async (time) => {
      for (const name of ['start', 'end']) {
        const rejected = await api.as('admin:p1').get(`${path}?${new URLSearchParams({ [name]: time })}`);
        expect(rejected.status).toBe(400);
      }
    },
  );

  it('rejects windows that do not end after they start', async () => {
    for (const query of [`start=${text(9)}&end=${text(9)}`, `start=${text(9)}&end=${text(8)}`, `end=${text(8)}`])
      for (const url of [path, `${path}/b`])
        expect((await api.as('admin:b', '2.100').get(`${url}?${query}`)).status).toBe(400);
  });

  it('uses the current time for missing times, and for an end in the future', async () => {
    const admin = api.as('admin:p1', '2.100');
    expect((await admin.get(path)).body.tenant_usages.map((usage: any) => usage.total_hours)).toEqual([0, 0]);
    for (const query of [`start=${text(0)}`, `start=${text(0)}&end=${text(99_999)}`]) {
      const [a] = (await admin.get(`${path}?${query}`)).body.tenant_usages;
      expect(a).toMatchObject({ tenant_id: 'a', total_hours: 2, stop: `${text(3600)}.000000` });
      expect(a).not.toHaveProperty('server_usages');
    }
  });

  it('is an empty object for a project without usage', async () => {
    expect((await api.as('eve:e', '2.100').get(`${path}/e?${full}`)).body).toEqual({ tenant_usage: {} });
  });

  it('is paged since 2.40, and a project may continue on the next page', async () => {
    const ordered = [...[ids[1]!, ids[3]!].sort(), ...[ids[0]!, ids[2]!].sort()];
    const admin = api.as('admin:p1', '2.40');
    const first = (await admin.get(`${path}?${full}&limit=3&detailed=1`)).body;
    const idsIn = (body: any) =>
      body.tenant_usages.flatMap((usage: any) => usage.server_usages.map((server: any) => server.instance_id));
    expect(idsIn(first)).toEqual(ordered.slice(0, 3));
    expect(first.tenant_usages_links).toEqual([
      {
        rel: 'next',
        href: `${api.url}/v2.1${path}?detailed=1&end=${encodeURIComponent(text(3600))}&limit=3&marker=${ordered[2]}&start=${encodeURIComponent(text(0))}`,
      },
    ]);
    const second = (await admin.get(`${path}?${full}&limit=3&detailed=1&marker=${ordered[2]}`)).body;
    expect(idsIn(second)).toEqual(ordered.slice(3));
    expect(second).not.toHaveProperty('tenant_usages_links');
    expect((await admin.get(`${path}?${full}&limit=0`)).body).toEqual({ tenant_usages: [] });
    const show = (await api.as('ada:a', '2.40').get(`${path}/a?${full}&limit=1`)).body;
    expect(show.tenant_usage.server_usages).toHaveLength(1);
    expect(show.tenant_usage_links[0].href).toContain(`marker=${ordered[0]}`);
    for (const marker of ['nobody', '%00']) {
      const rejected = await admin.get(`${path}?${full}&marker=${marker}`);
      expect(rejected.status).toBe(400);
      expect(rejected.body.badRequest.message).toMatch(/^marker \[.*\] not found$/);
    }
    for (const limit of ['-1', 'x', '1.5']) expect((await admin.get(`${path}?limit=${limit}`)).status).toBe(400);
    const before = api.as('admin:p1', '2.39');
    expect((await before.get(`${path}?${full}&limit=1&marker=unknown`)).body.tenant_usages).toHaveLength(2);
  });

  it('is for administrators, and for one project also for its readers', async () => {
    const reader = api.as('ray:a:reader', '2.100');
    expect((await reader.get(`${path}?${full}`)).status).toBe(403);
    expect((await reader.get(`${path}/a?${full}`)).status).toBe(200);
    expect((await reader.get(`${path}/b?${full}`)).status).toBe(403);
  });

  it('rejects unknown parameters since 2.75', async () => {
    for (const query of [`${path}?${full}&a=b`, `${path}/b?${full}&a=b`]) {
      expect((await api.as('admin:p1', '2.74').get(query)).status).toBe(200);
      expect((await api.as('admin:p1', '2.75').get(query)).status).toBe(400);
    }
  });

  it('never causes a 500, for any query', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string(), async (time, marker) => {
        const query = new URLSearchParams({ start: time, end: marker, marker: time, limit: marker, detailed: time });
        for (const version of ['2.1', '2.40', '2.100'])
          for (const url of [path, `${path}/${encodeURIComponent(`x${marker}`)}`])
            expect((await api.as('admin:p1', version).get(`${url}?${query}`)).status).toBeLessThan(500);
      }),
      { numRuns: 40 },
    );
    expect(api.errors).toEqual([]);
  });
});
