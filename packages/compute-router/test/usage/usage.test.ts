import { defaultPreset } from '@apistrata/compute-engine';
import { ManualClock } from '@apistrata/compute-engine/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';

const BEGIN = Date.parse('2026-01-31T22:58:00Z');
const flavors = [
  { id: '1', name: 'one', vcpus: 1, memoryMb: 512, diskGb: 1 },
  { id: '2', name: 'two', vcpus: 2, memoryMb: 333, diskGb: 20, ephemeralGb: 7 },
  { id: '3', name: 'three', vcpus: 3, memoryMb: 4097, diskGb: 2 },
];
const unlimited = { quotas: { instances: -1, cores: -1, ram: -1 } } as never;

/** A time of a query, or of an answer: seconds after the beginning. */
const text = (seconds: number) => new Date(BEGIN + seconds * 1000).toISOString().slice(0, 19);

function start(clock: ManualClock): Promise<Api> {
  return apiUnderTest({
    engine: { clock, settings: unlimited },
    preset: { ...defaultPreset, flavors },
    router: { maxLimit: 50 },
  });
}

/** What the test itself remembers of a server; times in seconds after the beginning. */
interface Remembered {
  readonly id: string;
  readonly project: string;
  readonly flavor: (typeof flavors)[number];
  readonly launched: number;
  terminated?: number;
}

/** The second calculation: second by second, was it running? */
function secondsOf(server: Remembered, start: number, end: number): number {
  let seconds = 0;
  for (let second = start; second < end; second++)
    if (second >= server.launched && (server.terminated === undefined || second < server.terminated)) seconds++;
  return seconds;
}

function totals(servers: readonly Remembered[], start: number, end: number) {
  const took = (size: (flavor: Remembered['flavor']) => number) =>
    servers.reduce((sum, server) => sum + secondsOf(server, start, end) * size(server.flavor), 0) / 3600;
  return {
    total_hours: took(() => 1),
    total_vcpus_usage: took(({ vcpus }) => vcpus),
    total_memory_mb_usage: took(({ memoryMb }) => memoryMb),
    total_local_gb_usage: took(({ diskGb, ephemeralGb = 0 }) => diskGb + ephemeralGb),
  };
}

const waiting = fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 0, max: 90 }) });
const booting = fc.record({
  kind: fc.constant('boot' as const),
  project: fc.constantFrom('a1', 'b2', 'c3'),
  flavor: fc.constantFrom(...flavors),
});
const changing = fc.record({ kind: fc.constantFrom('delete' as const, 'os-stop' as const), which: fc.nat() });
const steps = fc.array(fc.oneof(waiting, booting, changing), { minLength: 4, maxLength: 25 });

type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

/** Does all of that, and remembers what became of it. */
async function live(api: Api, clock: ManualClock, history: readonly Step[]): Promise<readonly Remembered[]> {
  const servers: Remembered[] = [];
  const now = () => (clock.now() - BEGIN) / 1000;
  for (const step of history) {
    if (step.kind === 'wait') await clock.advance(step.seconds * 1000);
    else if (step.kind === 'boot') {
      const { id } = await api.as(`ada:${step.project}`, '2.37').boot({ flavorRef: step.flavor.id });
      servers.push({ id, project: step.project, flavor: step.flavor, launched: now() });
    } else {
      const alive = servers.filter(({ terminated }) => terminated === undefined);
      const server = alive[step.which % alive.length];
      if (!server) continue;
      const ada = api.as(`ada:${server.project}`, '2.37');
      if (step.kind === 'os-stop') await ada.act(server.id, 'os-stop');
      else {
        await ada.delete(`/servers/${server.id}`);
        await api.idle();
        server.terminated = now();
      }
    }
  }
  return servers;
}

/** All pages of the report, joined as clients do it. */
async function pages(api: Api, query: string, limit: number): Promise<any[]> {
  const admin = api.as('admin:p1', '2.40');
  const found: any[] = [];
  for (let path = `/os-simple-tenant-usage?${query}&limit=${limit}`; ; ) {
    const { status, body } = await admin.get(path);
    expect(status).toBe(200);
    const servers = body.tenant_usages.reduce((sum: number, usage: any) => sum + usage.server_usages.length, 0);
    found.push(...body.tenant_usages);
    expect(body.tenant_usages_links !== undefined).toBe(servers === limit);
    if (!body.tenant_usages_links) return found;
    path = body.tenant_usages_links[0].href.slice(`${api.url}/v2.1`.length);
  }
}

async function compare(
  api: Api,
  servers: readonly Remembered[],
  [start, end, now]: readonly [number, number, number],
  limit: number,
): Promise<void> {
  const query = `start=${text(start)}&end=${text(end)}&detailed=1`;
  const { body } = await api.as('admin:p1', '2.1').get(`/os-simple-tenant-usage?${query}`);
  const stop = Math.min(end, now);
  const inWindow = servers.filter(
    ({ launched, terminated }) => launched < stop && (terminated === undefined || terminated >= start),
  );
  const projects = [...new Set(inWindow.map(({ project }) => project))].sort();
  expect(body.tenant_usages.map((usage: any) => usage.tenant_id)).toEqual(projects);
  for (const usage of body.tenant_usages) {
    const own = inWindow.filter(({ project }) => project === usage.tenant_id);
    expect(usage).toMatchObject({
      ...totals(own, start, stop),
      start: `${text(start)}.000000`,
      stop: `${text(stop)}.000000`,
    });
    expect(usage.server_usages.map((server: any) => server.instance_id)).toEqual(own.map(({ id }) => id).sort());
    for (const shown of usage.server_usages) {
      const server = own.find(({ id }) => id === shown.instance_id)!;
      const { flavor, launched, terminated } = server;
      expect(shown).toEqual({
        instance_id: server.id,
        tenant_id: server.project,
        name: 'web',
        flavor: flavor.name,
        vcpus: flavor.vcpus,
        memory_mb: flavor.memoryMb,
        local_gb: flavor.diskGb + (flavor.ephemeralGb ?? 0),
        hours: secondsOf(server, start, stop) / 3600,
        uptime: (terminated ?? now) - launched,
        started_at: `${text(launched)}.000000`,
        ended_at: terminated === undefined ? null : `${text(terminated)}.000000`,
        state: terminated === undefined ? expect.stringMatching(/^(active|stopped)$/) : 'terminated',
      });
    }
    const { body: one } = await api
      .as(`ada:${usage.tenant_id}`, '2.100')
      .get(`/os-simple-tenant-usage/${usage.tenant_id}?start=${text(start)}&end=${text(end)}`);
    expect(one).toEqual({ tenant_usage: usage });
  }
  const joined = await pages(api, query, limit);
  const ids = joined.flatMap((usage) => usage.server_usages.map((server: any) => server.instance_id));
  expect(ids).toEqual(
    body.tenant_usages.flatMap((usage: any) => usage.server_usages.map((server: any) => server.instance_id)),
  );
  const hours = joined.reduce((sum, usage) => sum + usage.total_hours, 0);
  expect(hours).toBeCloseTo(totals(inWindow, start, stop).total_hours, 9);
}

describe('a usage report', () => {
  it('agrees with counting second by second, whatever the history, the window and the size of pages', async () => {
    const windows = fc.array(fc.tuple(fc.integer({ min: -100, max: 700 }), fc.integer({ min: 1, max: 900 })), {
      minLength: 3,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(steps, windows, fc.integer({ min: 1, max: 4 }), async (history, spans, limit) => {
        const clock = new ManualClock(BEGIN);
        const api = await start(clock);
        try {
          const servers = await live(api, clock, history);
          const now = (clock.now() - BEGIN) / 1000;
          for (const [from, length] of spans) {
            if (from < now) await compare(api, servers, [from, from + length, now], limit);
          }
          expect(api.errors).toEqual([]);
        } finally {
          await api.close();
        }
      }),
      { numRuns: 40 },
    );
  });

  describe('of one cloud', () => {
    const clock = new ManualClock(BEGIN);
    let api: Api;
    let ids: string[];
    beforeAll(async () => {
      api = await start(clock);
      const booted = [];
      for (const project of ['b', 'a', 'b', 'a']) booted.push(await api.as(`ada:${project}`, '2.37').boot());
      ids = booted.map(({ id }) => id);
      await clock.advance(3_600_000);
    });
    afterAll(() => api.close());

    const path = '/os-simple-tenant-usage';
    const whole = `start=${text(0)}&end=${text(3600)}`;

    it.each([
      [text(60), `${text(60)}.000000`],
      [`${text(60)}.5`, `${text(60)}.500000`],
      [`${text(60)}.123456`, `${text(60)}.123456`],
      [`${text(60).replace('T', ' ')}.25`, `${text(60)}.250000`],
    ])('reads %s as a time', async (start, shown) => {
      const { body } = await api.as('admin:p1').get(`${path}?${new URLSearchParams({ start, end: text(120) })}`);
      expect(body.tenant_usages[0].start).toBe(shown);
    });

    it('measures to the microsecond', async () => {
      const { body } = await api.as('admin:p1').get(`${path}?start=${text(0)}.000001&end=${text(0)}.000004`);
      expect(body.tenant_usages[0].total_hours).toBe(6 / 3_600_000_000);
    });

    it.each(['yesterday', '2026-02-30T00:00:00', '2026-01-01', '2026-01-01 00:00:00', '2026-01-01T00:00:00Z', '\0'])(
      'refuses %j as a time',
      async (time) => {
        for (const name of ['start', 'end']) {
          const refused = await api.as('admin:p1').get(`${path}?${new URLSearchParams({ [name]: time })}`);
          expect(refused.status).toBe(400);
        }
      },
    );

    it('refuses windows that do not end after they start', async () => {
      for (const query of [`start=${text(9)}&end=${text(9)}`, `start=${text(9)}&end=${text(8)}`, `end=${text(8)}`])
        for (const where of [path, `${path}/b`])
          expect((await api.as('admin:b', '2.100').get(`${where}?${query}`)).status).toBe(400);
    });

    it('takes what is left out for now, and an end to come too', async () => {
      const admin = api.as('admin:p1', '2.100');
      expect((await admin.get(path)).body.tenant_usages.map((usage: any) => usage.total_hours)).toEqual([0, 0]);
      for (const query of [`start=${text(0)}`, `start=${text(0)}&end=${text(99_999)}`]) {
        const [a] = (await admin.get(`${path}?${query}`)).body.tenant_usages;
        expect(a).toMatchObject({ tenant_id: 'a', total_hours: 2, stop: `${text(3600)}.000000` });
        expect(a).not.toHaveProperty('server_usages');
      }
    });

    it('is an empty object for a project that used nothing', async () => {
      expect((await api.as('eve:e', '2.100').get(`${path}/e?${whole}`)).body).toEqual({ tenant_usage: {} });
    });

    it('comes in pages from 2.40 on, in which a project may go on', async () => {
      const ordered = [...[ids[1]!, ids[3]!].sort(), ...[ids[0]!, ids[2]!].sort()];
      const admin = api.as('admin:p1', '2.40');
      const first = (await admin.get(`${path}?${whole}&limit=3&detailed=1`)).body;
      const idsIn = (body: any) =>
        body.tenant_usages.flatMap((usage: any) => usage.server_usages.map((server: any) => server.instance_id));
      expect(idsIn(first)).toEqual(ordered.slice(0, 3));
      expect(first.tenant_usages_links).toEqual([
        {
          rel: 'next',
          href: `${api.url}/v2.1${path}?detailed=1&end=${encodeURIComponent(text(3600))}&limit=3&marker=${ordered[2]}&start=${encodeURIComponent(text(0))}`,
        },
      ]);
      const second = (await admin.get(`${path}?${whole}&limit=3&detailed=1&marker=${ordered[2]}`)).body;
      expect(idsIn(second)).toEqual(ordered.slice(3));
      expect(second).not.toHaveProperty('tenant_usages_links');
      expect((await admin.get(`${path}?${whole}&limit=0`)).body).toEqual({ tenant_usages: [] });
      const show = (await api.as('ada:a', '2.40').get(`${path}/a?${whole}&limit=1`)).body;
      expect(show.tenant_usage.server_usages).toHaveLength(1);
      expect(show.tenant_usage_links[0].href).toContain(`marker=${ordered[0]}`);
      for (const marker of ['nobody', '%00']) {
        const refused = await admin.get(`${path}?${whole}&marker=${marker}`);
        expect(refused.status).toBe(400);
        expect(refused.body.badRequest.message).toMatch(/^marker \[.*\] not found$/);
      }
      for (const limit of ['-1', 'x', '1.5']) expect((await admin.get(`${path}?limit=${limit}`)).status).toBe(400);
      const before = api.as('admin:p1', '2.39');
      expect((await before.get(`${path}?${whole}&limit=1&marker=nobody`)).body.tenant_usages).toHaveLength(2);
    });

    it('is for administrators, and of one project for its readers', async () => {
      const reader = api.as('ray:a:reader', '2.100');
      expect((await reader.get(`${path}?${whole}`)).status).toBe(403);
      expect((await reader.get(`${path}/a?${whole}`)).status).toBe(200);
      expect((await reader.get(`${path}/b?${whole}`)).status).toBe(403);
    });

    it('refuses unknown parameters from 2.75 on', async () => {
      for (const query of [`${path}?${whole}&a=b`, `${path}/b?${whole}&a=b`]) {
        expect((await api.as('admin:p1', '2.74').get(query)).status).toBe(200);
        expect((await api.as('admin:p1', '2.75').get(query)).status).toBe(400);
      }
    });

    it('makes no 500 of any query', async () => {
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string(), async (time, marker) => {
          const query = new URLSearchParams({ start: time, end: marker, marker: time, limit: marker, detailed: time });
          for (const version of ['2.1', '2.40', '2.100'])
            for (const where of [path, `${path}/${encodeURIComponent(`x${marker}`)}`])
              expect((await api.as('admin:p1', version).get(`${where}?${query}`)).status).toBeLessThan(500);
        }),
        { numRuns: 40 },
      );
      expect(api.errors).toEqual([]);
    });
  });
});
