import { coreOf } from '@apistrata/compute-engine/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Call } from '../contract/calls/call.js';
import { calls } from '../contract/calls/calls.js';
import { Cloud, OWNER } from '../contract/cloud.js';
import {
  existsAt,
  keyOf,
  LATEST,
  type ListedField,
  type ListedOperation,
  type ListedView,
  listedOperations,
  listedViews,
  successAt,
} from '../contract/reference.js';
import { pathOf, sendRequest } from '../contract/send-request.js';
import { hasField, mismatches } from '../contract/view-fields.js';
import { faultyServer, groupWithLimit, groupWithRules, imageOfServer, moreCalls } from './more-calls.js';

/**
 * Representations that no operation returns in this test. The values state where they are tested, or why they cannot
 * be.
 */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'baremetal_node proxy': 'this API has no bare metal nodes',
  'floating_ip_dns show': 'this API has no domains',
  'error body': 'faults of every kind: versions/versions.test.ts',
  'version show': 'version documents: versions/versions.test.ts',
  'version list': 'version documents: versions/versions.test.ts',
  'version choices': 'version documents: versions/versions.test.ts',
};

/** Fields that no response in this test contains, with the reasons. */
const NEVER_SHOWN: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['errors', 'instances', 'message', 'state'].map((name) => [
      `instance_usage_audit_log show: log.*.${name}`,
      'usage audits are disabled: servers-parts/events.test.ts',
    ]),
  ),
  'server create: reservation_id': 'replaces all other fields: servers-create/creation.test.ts',
  ...Object.fromEntries(
    ['', '.code', '.created', '.details', '.message'].map((name) => [
      `server rebuild: fault${name}`,
      'the status in the response is REBUILD, and only servers in ERROR show their fault',
    ]),
  ),
};

/** A member of the owner's project. */
const MEMBER = 'ada:p1';

const minor = (version: string) => Number(version.split('.')[1]);
const nameless = (key: string) => key.replaceAll(/\{[^}]+\}/g, '{}');
const operationOf = new Map(listedOperations.filter(({ base }) => !base).map((one) => [nameless(keyOf(one)), one]));

/**
 * Pairs of a representation and an operation that returns it. Each is tested before and after every change to the
 * fields.
 */
const cases = listedViews.flatMap((view) =>
  view.name in ELSEWHERE
    ? []
    : view.operations.map((key) => [view.name, key, view, operationOf.get(nameless(key))] as const),
);

function edgesOf(listed: ListedOperation, { fields }: ListedView): readonly string[] {
  const bounds = [listed.since, listed.until ?? LATEST].map(minor);
  const edges = new Set(bounds);
  for (const { since, until } of fields) {
    edges.add(minor(since)).add(minor(since) - 1);
    if (until !== null) edges.add(minor(until)).add(minor(until) + 1);
  }
  const versions = [...edges].sort((a, b) => a - b).map((edge) => `2.${edge}`);
  return versions.filter(
    (version) => minor(version) > 0 && minor(version) <= minor(LATEST) && existsAt(listed, version),
  );
}

const fieldsAt = (fields: readonly ListedField[], version: string) =>
  fields.filter(({ since, until }) => {
    return minor(since) <= minor(version) && (until === null || minor(until) >= minor(version));
  });

/**
 * Returns the items in the envelope, such as the servers in `{"servers": [..]}`. Without an envelope, the only item is
 * the whole body.
 */
function itemsIn(body: any, { envelope, fields }: ListedView): readonly any[] {
  const own = new Set(fields.map(({ name }) => name.split(/[.[]/)[0]));
  let items = [body];
  for (const [, key] of envelope.matchAll(/"(\w+)": [[{]/g))
    if (!own.has(key) && items[0]?.[key!] !== undefined) items = items.flatMap((item) => item[key!]);
  const list = /^item of (\w+)/.exec(envelope)?.[1];
  return list ? body[list] : items;
}

describe('every representation of the reference', () => {
  let cloud: Cloud;
  beforeAll(async () => {
    cloud = await Cloud.open();
    // Creates a resource of each kind, so that no list is empty.
    await cloud.server(['migrate']);
    await cloud.attached();
    await cloud.connected();
    await cloud.aggregate();
    await cloud.keypair();
    await cloud.group();
    await cloud.snapshot();
    await cloud.floatingIp();
    await cloud.image();
    await faultyServer(cloud);
    await groupWithRules(cloud);
    await groupWithLimit(cloud);
    await imageOfServer(cloud);
  });
  afterAll(() => cloud.api.close());

  /** Versions at which no operation has returned a representation yet. */
  const unseen = new Map<string, Set<string>>();
  for (const [name, , view, listed] of cases) {
    const versions = unseen.get(name) ?? new Set();
    for (const version of edgesOf(listed!, view)) if (fieldsAt(view.fields, version).length > 0) versions.add(version);
    unseen.set(name, versions);
  }

  /** Pairs of a representation and an operation that has not returned it yet. */
  const empty = new Set(cases.map(([name, key]) => `${name}: ${key}`));
  /** Fields that no item had yet. */
  const unshown = new Map(
    cases.flatMap(([name, , { fields }]) => fields.map((field) => [field, `${name}: ${field.name}`] as const)),
  );

  /** Makes all hosts unreachable during `work` if the form is that of servers on unreachable hosts. */
  async function whileReachable<T>(form: string, work: () => Promise<T>): Promise<T> {
    if (!form.endsWith('_partial')) return work();
    const { infrastructure } = coreOf(cloud.api.engine);
    const names = [...(await infrastructure.hosts()).hosts.keys()];
    for (const name of names) infrastructure.setReachable(name, false);
    return work().finally(() => {
      for (const name of names) infrastructure.setReachable(name, true);
    });
  }

  it('is returned by an operation that the contract test calls', () => {
    expect(
      cases.filter(([, , , listed]) => !listed || !calls[keyOf(listed)]).map(([name, key]) => [name, key]),
    ).toEqual([]);
  });

  it.each(cases)('%s: %s', { timeout: 300_000 }, async (name, key, view, listed) => {
    const wrong: string[] = [];
    const versions = edgesOf(listed!, view);
    expect(versions).not.toEqual([]);
    for (const version of versions) {
      const fields = fieldsAt(view.fields, version).filter(
        ({ notes }) => !(listed!.method === 'PUT' && notes === 'absent in the PUT answer'),
      );
      if (fields.length === 0) continue;
      for (const prepare of [calls[keyOf(listed!)]!, moreCalls[keyOf(listed!)]])
        if (prepare) await checkResponse(version, fields, await prepare(cloud, version));
    }
    expect([...new Set(wrong)]).toEqual([]);

    async function checkResponse(version: string, fields: readonly ListedField[], call: Call): Promise<void> {
      const { params, body, query, after } = call;
      const path = pathOf(listed!, params);
      const requested: (readonly [string, readonly ListedField[]])[] = [[OWNER, fields]];
      const everybodys = fields.filter(({ adminOnly }) => !adminOnly);
      if (listed!.method === 'GET' && everybodys.length < fields.length) requested.push([MEMBER, everybodys]);
      for (const [token, shown] of requested) {
        const response = await whileReachable(name, () =>
          sendRequest(cloud.api, listed!.method, { token, version, path, query, body }),
        );
        if (!successAt(listed!, version).includes(response.status)) {
          wrong.push(`${version}: ${response.status} ${response.text.slice(0, 200)}`);
          continue;
        }
        const items = itemsIn(JSON.parse(response.text), view);
        // Partial items among complete ones are identified by their status.
        const meant = name.endsWith('_partial') ? items.filter(({ status }) => status === 'UNKNOWN') : items;
        if (meant.length > 0) unseen.get(name)?.delete(version);
        if (meant.length > 0) empty.delete(`${name}: ${key}`);
        for (const item of meant) {
          for (const field of shown) if (unshown.has(field) && hasField(item, field)) unshown.delete(field);
          wrong.push(...mismatches(item, shown).map((mismatch) => `${version} ${token}: ${mismatch}`));
        }
      }
      await after?.();
      await cloud.api.idle();
    }
  });

  it('was returned and checked', () => {
    expect([...unseen].flatMap(([name, versions]) => [...versions].map((version) => `${name} at ${version}`))).toEqual(
      [],
    );
    expect([...empty]).toEqual([]);
  });

  it('had every field of the reference', () => {
    expect([...new Set(unshown.values())].sort()).toEqual(Object.keys(NEVER_SHOWN).sort());
  });
});
