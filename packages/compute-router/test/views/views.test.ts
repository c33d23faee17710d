import { coreOf } from '@apistrata/compute-engine/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
import { mismatches } from '../contract/view-fields.js';

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
  });
  afterAll(() => cloud.api.close());

  /** Versions at which no operation has returned a representation yet. */
  const unseen = new Map<string, Set<string>>();
  for (const [name, , view, listed] of cases) {
    const versions = unseen.get(name) ?? new Set();
    for (const version of edgesOf(listed!, view)) if (fieldsAt(view.fields, version).length > 0) versions.add(version);
    unseen.set(name, versions);
  }

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

  it.each(cases)('%s: %s', { timeout: 300_000 }, async (name, _, view, listed) => {
    const wrong: string[] = [];
    const versions = edgesOf(listed!, view);
    expect(versions).not.toEqual([]);
    for (const version of versions) {
      const fields = fieldsAt(view.fields, version).filter(
        ({ notes }) => !(listed!.method === 'PUT' && notes === 'absent in the PUT answer'),
      );
      if (fields.length === 0) continue;
      const { params, body, query, after } = await calls[keyOf(listed!)]!(cloud, version);
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
        unseen.get(name)?.delete(meant.length > 0 ? version : '');
        for (const item of meant)
          wrong.push(...mismatches(item, shown).map((mismatch) => `${version} ${token}: ${mismatch}`));
      }
      await after?.();
      await cloud.api.idle();
    }
    expect([...new Set(wrong)]).toEqual([]);
  });

  it('was returned and checked', () => {
    expect([...unseen].flatMap(([name, versions]) => [...versions].map((version) => `${name} at ${version}`))).toEqual(
      [],
    );
  });
});
