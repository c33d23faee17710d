import { ManualClock } from '@apistrata/compute-engine/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Api } from '../api-under-test.js';
import { BEGIN, flavors, text, usageApi } from './usage-api.js';

/** The test's own record of a server. Times are in seconds after the start. */
interface Remembered {
  readonly id: string;
  readonly project: string;
  readonly flavor: (typeof flavors)[number];
  readonly launched: number;
  terminated?: number;
}

/** Calculates the usage independently of the API, by counting the seconds in which the server ran. */
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

/** Performs the steps of a history, and records their effects. */
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

/** Returns the concatenated items of all pages of the report, which it requests by following links, as clients do. */
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
  it('equals a count of seconds, for any history, window and page size', async () => {
    const windows = fc.array(fc.tuple(fc.integer({ min: -100, max: 700 }), fc.integer({ min: 1, max: 900 })), {
      minLength: 3,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(steps, windows, fc.integer({ min: 1, max: 4 }), async (history, spans, limit) => {
        const clock = new ManualClock(BEGIN);
        const api = await usageApi(clock);
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
});
