import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Call } from './calls/call.js';
import { calls } from './calls/calls.js';
import { Cloud, OWNER } from './cloud.js';
import { coveragePage, type Proof } from './coverage-page.js';
import {
  edgesOf,
  errorsAt,
  existsAt,
  keyOf,
  type ListedOperation,
  listedOperations,
  successAt,
  unknownParametersAt,
} from './reference.js';
import { isOutsideWindow, isUnrouted, pathOf, sendRequest, type TestResponse } from './send-request.js';

/** Effects of versions do not depend on the database: the second database is tested at the newest version only. */
const sampled = inject('database') === 'postgres';

const served = listedOperations.filter(({ removed, base }) => !removed && !base);

/** Operations that always fail, with their status. */
const ALWAYS_REJECTED: Readonly<Record<string, number>> = {
  'POST /os-baremetal-nodes': 400,
  'DELETE /os-baremetal-nodes/{id}': 400,
  'POST /os-baremetal-nodes/{id}/action add_interface': 400,
  'POST /os-baremetal-nodes/{id}/action remove_interface': 400,
  'POST /servers/{id}/action os-getRDPConsole': 400,
  // This API has neither bare metal nodes nor domains, so none is ever found.
  'GET /os-baremetal-nodes/{id}': 404,
  'GET /os-floating-ip-dns/{domain_id}/entries/{id}': 404,
};

/** The statuses of operations that always fail at some versions. */
const REJECTED_AT: Readonly<Record<string, (minor: number) => number | undefined>> = {
  'GET /os-console-auth-tokens/{id}': (minor) => (minor < 31 ? 400 : undefined),
};

function expectedAt(listed: ListedOperation, version: string): readonly number[] {
  const key = keyOf(listed);
  const rejected = ALWAYS_REJECTED[key] ?? REJECTED_AT[key]?.(Number(version.split('.')[1]));
  return rejected === undefined ? successAt(listed, version) : [rejected];
}

/** For each default base rule, a caller of the same project whom it rejects. */
const CALLERS_WITHOUT_ROLE: Readonly<Record<string, string>> = {
  admin: 'ada:p1',
  service_or_admin: 'ada:p1',
  project_manager_or_admin: 'ada:p1',
  project_member_or_admin: 'ray:p1:reader',
  project_reader_or_admin: 'nil:p1:nothing',
};

/** Resources that do not belong to a project, or that belong to the caller. Other callers may also see them. */
const PUBLIC = [
  /^GET \/(flavors|extensions|versions|os-networks|os-tenant-networks)\//,
  /^GET \/os-quota-sets\/\{id\}\/defaults/,
];

/** Returns an unknown id of the same form. */
function unknownLike(value: string): string {
  if (isIP(value) !== 0) return '198.51.100.7';
  if (/^\d+$/.test(value)) return '999999';
  return /^[0-9a-f]{8}-/.test(value) ? randomUUID() : 'nothing-of-that-name';
}

function isOneOf(response: TestResponse, statuses: readonly number[], about = ''): void {
  expect(statuses, `${about} ${response.status} ${response.text.slice(0, 300)}`).toContain(response.status);
}

describe('every operation of the reference', () => {
  let cloud: Cloud;
  const proofs = new Map<string, Proof>();
  beforeAll(async () => {
    cloud = await Cloud.open();
    // Creates a resource of each kind, so that the owner's lists are not empty.
    await cloud.server();
    await cloud.image();
    await cloud.snapshot();
    await cloud.floatingIp();
    await cloud.securityGroup();
    await cloud.group();
    await cloud.keypair();
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
    return sendRequest(cloud.api, listed.method, { token, version, path: pathOf(listed, params), query, body });
  }

  it('has a call in the test', () => {
    expect(served.map(keyOf).filter((key) => !calls[key])).toEqual([]);
  });

  describe.each(served.map((listed) => [keyOf(listed), listed] as const))('%s', (key, listed) => {
    const edges = edgesOf(listed);
    const existing = edges.filter((edge) => existsAt(listed, edge));
    const inside = sampled ? existing.slice(-1) : existing;
    const proof: Proof = { listed, edges, successes: new Set(), rejections: new Set(), tenancy: '' };
    proofs.set(key, proof);

    it.each(inside)('returns the listed status at %s', async (version) => {
      const call = await prepare(listed, version);
      const result = await send(listed, version, call);
      await call.after?.();
      await cloud.api.idle();
      isOneOf(result, expectedAt(listed, version));
      (result.status < 300 ? proof.successes : proof.rejections).add(result.status);
    });

    const readsQuery = inside.some((version) => unknownParametersAt(listed, version) !== undefined);
    if (listed.method === 'GET' || readsQuery)
      it('handles unknown query parameters as listed', async () => {
        for (const version of inside) {
          const call = await prepare(listed, version);
          const query = `${call.query ? `${call.query}&` : ''}unknown-key=1`;
          const response = await send(listed, version, call, { query });
          await call.after?.();
          await cloud.api.idle();
          const rejected = unknownParametersAt(listed, version) === 'rejected';
          isOneOf(response, rejected ? [400] : expectedAt(listed, version), version);
          if (rejected) proof.rejections.add(400);
        }
      });

    it('rejects other projects, callers without the role, and invalid requests', async () => {
      const version = existing.at(-1)!;
      const call = await prepare(listed, version);
      try {
        await rejections(version, call);
      } finally {
        await call.after?.();
        await cloud.api.idle();
      }
    });

    async function rejections(version: string, call: Call): Promise<void> {
      const rejected = async (status: number, changed: Parameters<typeof send>[3]) => {
        const response = await send(listed, version, call, changed);
        isOneOf(response, [status], JSON.stringify(changed));
        expect(isUnrouted(response) || isOutsideWindow(response)).toBe(false);
        proof.rejections.add(status);
      };
      if (listed.path !== '/') await rejectedWithoutToken(version, call);

      const before = await cloud.world();
      await checkRejections(version, call);
      for (const { default: byDefault, optional, when } of listed.policy) {
        const token = CALLERS_WITHOUT_ROLE[byDefault];
        if (token && !optional && !when) await rejected(403, { token });
      }
      if (listed.method === 'POST' || listed.method === 'PUT') {
        const hasSchema = typeof listed.request === 'string' || listed.request.length > 0 || listed.action;
        if (hasSchema && ALWAYS_REJECTED[key] === undefined) {
          const loose = BODY_IS_OPTIONAL.has(key);
          for (const body of [...(loose ? [] : [undefined]), [], 'text']) await rejected(400, { body });
          if (!listed.bodyExtraKeys && !loose)
            await rejected(400, { body: { ...(call.body as object), 'unknown-key': 1 } });
        }
      }
      const unknown = Object.entries(call.params ?? {}).filter(([name]) => listed.path.includes(`{${name}}`));
      if (errorsAt(listed, version).includes(404) && ALWAYS_REJECTED[key] === undefined) {
        for (const [index, [name, value]] of unknown.entries()) {
          const params = { ...call.params, [name]: unknownLike(value) };
          const mayDiffer = listed.method === 'PUT' && index > 0;
          if (!mayDiffer && !ACCEPTS_UNKNOWN.has(key)) await rejected(404, { params });
        }
      }
      expect(await cloud.world()).toBe(before);
    }

    async function rejectedWithoutToken(version: string, call: Call): Promise<void> {
      expect((await send(listed, version, call, { token: '' })).status).toBe(401);
      proof.rejections.add(401);
    }

    /** Calls as a member of another project, who must see and change nothing. */
    async function checkRejections(version: string, call: Call): Promise<void> {
      const response = await send(listed, version, call, { token: 'bob:p2' });
      const { status, text } = response;
      const hasTarget = call.params !== undefined && !PUBLIC.some((pattern) => pattern.test(key));
      const allowed = hasTarget ? [403, 404] : [...expectedAt(listed, version), 403, 404, 400];
      if (ALWAYS_REJECTED[key] !== undefined) allowed.push(ALWAYS_REJECTED[key]);
      isOneOf(response, allowed);
      proof.tenancy = String(status);
      if (listed.method === 'GET' && status === 200 && call.params === undefined) {
        const ownResponse = await send(listed, version, call);
        const ownedIn = (response: string) => [...cloud.owned].filter((name) => response.includes(`"${name}"`));
        expect(ownedIn(text)).toEqual([]);
        if (ownedIn(ownResponse.text).length > 0) proof.tenancy = 'only its own resources';
      }
    }
  });

  it('never causes a 500', () => {
    expect(cloud.api.errors).toEqual([]);
  });

  it.skipIf(sampled)('is in the coverage page', async () => {
    const page = fileURLToPath(new URL('../../../../docs/coverage.md', import.meta.url));
    await expect(coveragePage(listedOperations, proofs)).toMatchFileSnapshot(page);
  });
});

/** Operations whose body is optional and may have unknown keys. */
const BODY_IS_OPTIONAL: ReadonlySet<string> = new Set(['POST /os-floating-ips']);

/** Operations that accept unknown ids: they create the resource, or another service checks the id. */
const ACCEPTS_UNKNOWN: ReadonlySet<string> = new Set([
  'DELETE /os-assisted-volume-snapshots/{id}',
  'DELETE /servers/{server_id}/os-interface/{id}',
]);
