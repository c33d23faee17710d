import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Answer, ask, isOutsideWindow, isUnrouted, pathOf } from './ask.js';
import type { Call } from './calls/call.js';
import { calls } from './calls/calls.js';
import { Cloud, OWNER } from './cloud.js';
import { coveragePage, type Proof } from './coverage-page.js';
import {
  edgesOf,
  errorsAt,
  existsAt,
  keyOf,
  LATEST,
  type ListedOperation,
  listedOperations,
  successAt,
  unknownParametersAt,
} from './reference.js';

/** What depends on the version does not depend on the database: on the second one, the newest version stands for all. */
const sampled = inject('database') === 'postgres';

const served = listedOperations.filter(({ removed, base }) => !removed && !base);

/** Operations that exist only to refuse: what they answer instead of a success, and to whatever is sent. */
const ALWAYS_REFUSED: Readonly<Record<string, number>> = {
  'POST /os-baremetal-nodes': 400,
  'DELETE /os-baremetal-nodes/{id}': 400,
  'POST /os-baremetal-nodes/{id}/action add_interface': 400,
  'POST /os-baremetal-nodes/{id}/action remove_interface': 400,
  'POST /servers/{id}/action os-getRDPConsole': 400,
  // There are no bare metal nodes and no domains behind this API, so none is ever found.
  'GET /os-baremetal-nodes/{id}': 404,
  'GET /os-floating-ip-dns/{domain_id}/entries/{id}': 404,
};

/** What a version answers although the rest of the window succeeds. */
const REFUSED_AT: Readonly<Record<string, (minor: number) => number | undefined>> = {
  'GET /os-console-auth-tokens/{id}': (minor) => (minor < 31 ? 400 : undefined),
};

function expectedAt(listed: ListedOperation, version: string): readonly number[] {
  const key = keyOf(listed);
  const refused = ALWAYS_REFUSED[key] ?? REFUSED_AT[key]?.(Number(version.split('.')[1]));
  return refused === undefined ? successAt(listed, version) : [refused];
}

/** Who is refused by a rule of each default class, though the things are of their own project. */
const POWERLESS: Readonly<Record<string, string>> = {
  admin: 'ada:p1',
  service_or_admin: 'ada:p1',
  project_manager_or_admin: 'ada:p1',
  project_member_or_admin: 'ray:p1:reader',
  project_reader_or_admin: 'nil:p1:nothing',
};

/** Things that belong to no project, or to the caller whoever it is: what others see of them is no secret. */
const PUBLIC = [
  /^GET \/(flavors|extensions|versions|os-networks|os-tenant-networks)\//,
  /^GET \/os-quota-sets\/\{id\}\/defaults/,
];

/** An id of the same form that nothing has. */
function unknownLike(value: string): string {
  if (isIP(value) !== 0) return '198.51.100.7';
  if (/^\d+$/.test(value)) return '999999';
  return /^[0-9a-f]{8}-/.test(value) ? randomUUID() : 'nothing-of-that-name';
}

function isOneOf(answer: Answer, statuses: readonly number[], about = ''): void {
  expect(statuses, `${about} ${answer.status} ${answer.text.slice(0, 300)}`).toContain(answer.status);
}

describe('every operation of the reference, called as it should be', () => {
  let cloud: Cloud;
  const proofs = new Map<string, Proof>();
  beforeAll(async () => {
    cloud = await Cloud.open();
  });
  afterAll(() => cloud.api.close());

  const prepare = (listed: ListedOperation, version: string) => Promise.resolve(calls[keyOf(listed)]!(cloud, version));

  function send(
    listed: ListedOperation,
    version: string,
    call: Call,
    changed: Partial<Call> & { token?: string } = {},
  ) {
    const { params, body, query, token = OWNER } = { ...call, ...changed };
    return ask(cloud.api, listed.method, { token, version, path: pathOf(listed, params), query, body });
  }

  it('is known to the test', () => {
    expect(served.map(keyOf).filter((key) => !calls[key])).toEqual([]);
  });

  describe.each(served.map((listed) => [keyOf(listed), listed] as const))('%s', (key, listed) => {
    const edges = edgesOf(listed);
    const existing = edges.filter((edge) => existsAt(listed, edge));
    const inside = sampled ? existing.slice(-1) : existing;
    const proof: Proof = { listed, edges, successes: new Set(), refusals: new Set(), tenancy: '' };
    proofs.set(key, proof);

    it.each(inside)('succeeds at %s with the listed status', async (version) => {
      const call = await prepare(listed, version);
      const answer = await send(listed, version, call);
      await call.after?.();
      await cloud.api.idle();
      isOneOf(answer, expectedAt(listed, version));
      (answer.status < 300 ? proof.successes : proof.refusals).add(answer.status);
    });

    it('treats unknown parameters in the query as listed', async () => {
      if (listed.method !== 'GET') return;
      for (const version of inside) {
        const call = await prepare(listed, version);
        const query = `${call.query ? `${call.query}&` : ''}nobody-knows-this=1`;
        const answer = await send(listed, version, call, { query });
        await call.after?.();
        const refused = unknownParametersAt(listed, version) === 'refused';
        isOneOf(answer, refused ? [400] : expectedAt(listed, version), version);
        if (refused) proof.refusals.add(400);
      }
    });

    it('refuses strangers, the powerless, and what makes no sense', async () => {
      const version = existing.filter((edge) => edge !== LATEST).at(-1)!;
      const call = await prepare(listed, version);
      try {
        await refusals(version, call);
      } finally {
        await call.after?.();
        await cloud.api.idle();
      }
    });

    async function refusals(version: string, call: Call): Promise<void> {
      const refused = async (status: number, changed: Parameters<typeof send>[3]) => {
        const answer = await send(listed, version, call, changed);
        isOneOf(answer, [status], JSON.stringify(changed));
        expect(isUnrouted(answer) || isOutsideWindow(answer)).toBe(false);
        proof.refusals.add(status);
      };
      if (listed.path !== '/') await refusedWithoutToken(version, call);

      const before = await cloud.world();
      await strangers(version, call);
      for (const { default: byDefault, optional, when } of listed.policy) {
        const token = POWERLESS[byDefault];
        if (token && !optional && !when) await refused(403, { token });
      }
      if (listed.method === 'POST' || listed.method === 'PUT') {
        const hasSchema = typeof listed.request === 'string' || listed.request.length > 0 || listed.action;
        if (hasSchema && ALWAYS_REFUSED[key] === undefined) {
          const loose = BODY_IS_OPTIONAL.has(key);
          for (const body of [...(loose ? [] : [undefined]), [], 'text']) await refused(400, { body });
          if (!listed.bodyExtraKeys && !loose)
            await refused(400, { body: { ...(call.body as object), 'nobody-knows-this': 1 } });
        }
      }
      const unknown = Object.entries(call.params ?? {}).filter(([name]) => listed.path.includes(`{${name}}`));
      if (errorsAt(listed, version).includes(404) && ALWAYS_REFUSED[key] === undefined) {
        for (const [index, [name, value]] of unknown.entries()) {
          const params = { ...call.params, [name]: unknownLike(value) };
          const mayMismatch = listed.method === 'PUT' && index > 0;
          if (!mayMismatch && !UNKNOWN_IS_FINE.has(key)) await refused(404, { params });
        }
      }
      expect(await cloud.world()).toBe(before);
    }

    async function refusedWithoutToken(version: string, call: Call): Promise<void> {
      expect((await send(listed, version, call, { token: '' })).status).toBe(401);
      proof.refusals.add(401);
    }

    /** A member of another project: sees none of it, and (see above) changes nothing of it. */
    async function strangers(version: string, call: Call): Promise<void> {
      const answer = await send(listed, version, call, { token: 'bob:p2' });
      const { status, text } = answer;
      const hasTarget = call.params !== undefined && !PUBLIC.some((pattern) => pattern.test(key));
      const allowed = hasTarget ? [403, 404] : [...expectedAt(listed, version), 403, 404, 400];
      if (ALWAYS_REFUSED[key] !== undefined) allowed.push(ALWAYS_REFUSED[key]);
      isOneOf(answer, allowed);
      if (listed.method === 'GET' && status === 200 && !hasTarget && call.params === undefined) {
        const { servers } = JSON.parse(await ownServers());
        for (const { id } of servers) expect(text).not.toContain(id);
      }
      proof.tenancy = status < 300 ? (hasTarget ? String(status) : 'own things') : String(status);
    }

    const ownServers = async () => (await ask(cloud.api, 'GET', { token: OWNER, path: '/servers' })).text;
  });

  it('makes no 500 of any of that', () => {
    expect(cloud.api.errors).toEqual([]);
  });

  it.skipIf(sampled)('is in the page that shows what is covered', async () => {
    const page = fileURLToPath(new URL('../../../../docs/coverage.md', import.meta.url));
    await expect(coveragePage(listedOperations, proofs)).toMatchFileSnapshot(page);
  });
});

/** Where a body may be left out, and may name what nobody knows. */
const BODY_IS_OPTIONAL: ReadonlySet<string> = new Set(['POST /os-floating-ips']);

/** Where an id that nothing has is no mistake: the operation makes it, or leaves it to others to find out. */
const UNKNOWN_IS_FINE: ReadonlySet<string> = new Set([
  'DELETE /os-assisted-volume-snapshots/{id}',
  'DELETE /servers/{server_id}/os-interface/{id}',
]);
