import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

type Amounts = Readonly<Record<string, number>>;

interface Given {
  readonly parent?: string;
  readonly has?: Amounts;
  readonly traits?: readonly string[];
  readonly in?: readonly string[];
}

const AGGREGATE = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';

/**
 * Starts an empty cloud and creates a provider tree (a node with two NUMA cells that have network functions), storage
 * that the node shares, and other providers.
 */
async function forest() {
  const cloud = await cloudUnderTest({
    preset: { flavors: [], hosts: [], images: [], networks: [], volumeTypes: [] },
  });
  const send = clientOf(cloud);
  const sendRequest = (method: string, path: string, body?: unknown, version = '1.39') =>
    send(method, `/placement${path}`, body, { 'OpenStack-API-Version': `placement ${version}` });
  const ids: Record<string, string> = {};
  async function provider(name: string, { parent, has = {}, traits = [], in: aggregates = [] }: Given) {
    const given = { name, ...(parent && { parent_provider_uuid: ids[parent] }) };
    const { uuid } = (await sendRequest('POST', '/resource_providers', given)).body;
    ids[name] = uuid;
    const path = `/resource_providers/${uuid}`;
    const inventories = Object.fromEntries(
      Object.entries(has).map(([key, total]) => [key, { total, max_unit: total }]),
    );
    for (const trait of traits) if (trait.startsWith('CUSTOM_')) await sendRequest('PUT', `/traits/${trait}`);
    for (const [part, value] of Object.entries({ inventories, traits, aggregates })) {
      const { generation } = (await sendRequest('GET', path)).body;
      const put = await sendRequest('PUT', `${path}/${part}`, {
        [part]: value,
        resource_provider_generation: generation,
      });
      expect(put.status, JSON.stringify(put.body)).toBe(200);
    }
  }
  await provider('node', { has: { MEMORY_MB: 4096 }, traits: ['CUSTOM_NODE'], in: [AGGREGATE] });
  for (const cell of ['cell1', 'cell2']) {
    await provider(cell, { parent: 'node', has: { VCPU: 4 } });
    await provider(`nic-${cell}`, { parent: cell, has: { SRIOV_NET_VF: 8 }, traits: [`CUSTOM_${cell.toUpperCase()}`] });
  }
  await provider('storage', {
    has: { DISK_GB: 1000 },
    traits: ['MISC_SHARES_VIA_AGGREGATE', 'CUSTOM_SSD'],
    in: [AGGREGATE],
  });
  await provider('plain', { has: { VCPU: 8, MEMORY_MB: 4096, DISK_GB: 100 }, in: [OTHER] });
  const named = new Map(Object.entries(ids).map(([name, id]) => [id, name]));

  /** Returns the resources that each candidate uses, by provider: `cell1 VCPU:1, node MEMORY_MB:1`. */
  async function find(query: string, version?: string): Promise<readonly string[]> {
    const { status, body } = await sendRequest('GET', `/allocation_candidates?${query}`, undefined, version);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.allocation_requests
      .map(({ allocations }: { allocations: Record<string, { resources: Amounts }> }) =>
        Object.entries(allocations)
          .map(([id, { resources }]) =>
            [named.get(id), ...Object.entries(resources).map(([key, value]) => `${key}:${value}`)].join(' '),
          )
          .sort()
          .join(', '),
      )
      .sort();
  }
  return { ask: sendRequest, find, ids };
}

describe('allocation candidates', () => {
  it.each([
    // One tree, with providers below its root, and storage that is shared with it.
    [
      'resources=VCPU:1,MEMORY_MB:2',
      undefined,
      ['cell1 VCPU:1, node MEMORY_MB:2', 'cell2 VCPU:1, node MEMORY_MB:2', 'plain VCPU:1 MEMORY_MB:2'],
    ],
    [
      'resources=MEMORY_MB:1,DISK_GB:5',
      undefined,
      ['node MEMORY_MB:1, storage DISK_GB:5', 'plain MEMORY_MB:1 DISK_GB:5'],
    ],
    // Before 1.29, providers below a root are not considered.
    ['resources=VCPU:1,MEMORY_MB:2', '1.28', ['plain VCPU:1 MEMORY_MB:2']],
    // All providers together have the required traits; one has any of several traits; none has a forbidden trait.
    [
      'resources=MEMORY_MB:1,DISK_GB:5&required=CUSTOM_NODE,CUSTOM_SSD',
      undefined,
      ['node MEMORY_MB:1, storage DISK_GB:5'],
    ],
    ['resources=SRIOV_NET_VF:1&required=in:CUSTOM_CELL1,CUSTOM_SSD', undefined, ['nic-cell1 SRIOV_NET_VF:1']],
    ['resources=DISK_GB:5&required=!CUSTOM_SSD', undefined, ['plain DISK_GB:5']],
    // The aggregates of a root apply to all providers in its tree.
    [`resources=VCPU:1&member_of=${AGGREGATE}`, undefined, ['cell1 VCPU:1', 'cell2 VCPU:1']],
    [`resources=VCPU:1&member_of=!${AGGREGATE}`, undefined, ['plain VCPU:1']],
    // A group with a suffix is satisfied by one provider.
    ['resources1=VCPU:1,MEMORY_MB:2', undefined, ['plain VCPU:1 MEMORY_MB:2']],
    [
      'resources1=SRIOV_NET_VF:1&resources2=SRIOV_NET_VF:2&group_policy=isolate',
      undefined,
      ['nic-cell1 SRIOV_NET_VF:1, nic-cell2 SRIOV_NET_VF:2', 'nic-cell1 SRIOV_NET_VF:2, nic-cell2 SRIOV_NET_VF:1'],
    ],
    [
      'resources1=SRIOV_NET_VF:5&resources2=SRIOV_NET_VF:5&group_policy=none',
      undefined,
      ['nic-cell1 SRIOV_NET_VF:5, nic-cell2 SRIOV_NET_VF:5', 'nic-cell1 SRIOV_NET_VF:5, nic-cell2 SRIOV_NET_VF:5'],
    ],
    [
      'resources_A=VCPU:1&resources_B=SRIOV_NET_VF:1&required_B=CUSTOM_CELL2&group_policy=none&same_subtree=_A,_B',
      undefined,
      ['cell2 VCPU:1, nic-cell2 SRIOV_NET_VF:1'],
    ],
    ['resources=VCPU:1&root_required=CUSTOM_NODE', undefined, ['cell1 VCPU:1', 'cell2 VCPU:1']],
    ['resources=VCPU:1&root_required=!CUSTOM_NODE', undefined, ['plain VCPU:1']],
    ['resources=VCPU:100', undefined, []],
  ])('for %s at %s are %j', async (query, version, expected) => {
    const { find } = await forest();
    expect(await find(query, version)).toEqual(expected);
  });

  it('are limited, and include their trees', async () => {
    const { ask: sendRequest, find, ids } = await forest();
    expect(await find('resources=VCPU:1&limit=2')).toHaveLength(2);
    expect(await find(`resources=VCPU:1&in_tree=${ids['nic-cell1']}`)).toEqual(['cell1 VCPU:1', 'cell2 VCPU:1']);
    const { body } = await sendRequest(
      'GET',
      '/allocation_candidates?resources1=DISK_GB:1&resources2=VCPU:1&group_policy=none&limit=1',
    );
    const [first] = body.allocation_requests;
    expect(Object.keys(first.mappings)).toEqual(['1', '2']);
    expect(Object.keys(body.provider_summaries)).toHaveLength(6);
    expect(body.provider_summaries[ids.storage ?? '']).toMatchObject({
      resources: { DISK_GB: { capacity: 1000, used: 0 } },
      root_provider_uuid: ids.storage,
      parent_provider_uuid: null,
    });
  });

  it.each([
    ['', '1.39', 'There must be at least one resources or resources[$S] parameter.'],
    ['', '1.25', 'At least one request group (`resources` or `resources{$S}`) is required.'],
    ['', '1.10', "'resources' is a required property"],
    ['required1=CUSTOM_NODE', '1.25', 'Found the following orphaned traits keys: required1'],
    ['resources1=VCPU:1&resources2=VCPU:1', '1.39', 'The \\"group_policy\\" parameter is required'],
    ['resources=VCPU:1&group_policy=x', '1.39', "'x' is not one of ['none', 'isolate']"],
    ['resources=', '1.39', 'Got: empty string.'],
    ['resources=VCPU', '1.39', 'Got: VCPU.'],
    ['resources=VCPU:x', '1.39', 'Requested resource VCPU expected positive integer amount. Got: x.'],
    ['resources=VCPU:0', '1.39', 'Requested resource VCPU requires amount >= 1. Got: 0.'],
    ['resources=NOTHING:1', '1.39', 'resource class NOTHING.'],
    ['resources=VCPU:1&required=CUSTOM_UNKNOWN', '1.39', 'trait(s): CUSTOM_UNKNOWN.'],
    ['resources=VCPU:1&required=A,', '1.39', 'Got an empty trait in: A,'],
    ['resources=VCPU:1&required=in:A,B', '1.38', 'only supported since microversion 1.39'],
    ['resources=VCPU:1&required=CUSTOM_NODE,!CUSTOM_NODE', '1.39', 'Conflicting required and forbidden traits'],
    ['resources=VCPU:1&member_of=x', '1.39', 'to contain valid UUID(s). Got: x'],
    ['resources=VCPU:1&in_tree=x', '1.39', 'to be a format of uuid. Got: x'],
    ['resources=VCPU:1&limit=0', '1.39', "'0' does not match"],
    ['resources=VCPU:1&required_A=CUSTOM_NODE', '1.39', "bad group(s) - ['_A']"],
    ['resources=VCPU:1&same_subtree=_B', '1.39', "['_B'] not found in ['']"],
    [
      'resources_A=VCPU:1',
      '1.32',
      "'resources_A' does not match any of the regexes: '^in_tree([1-9][0-9]*)?$', '^member_of",
    ],
    ['resources=VCPU:1&root_required=CUSTOM_NODE', '1.34', "'root_required' does not match any of the regexes"],
    ['resources=VCPU:1&required=CUSTOM_NODE', '1.16', "'required' was unexpected"],
    ['resources=VCPU:1&root_required=A&root_required=B', '1.39', 'placement.query.duplicate_key'],
  ])('reject %s at %s', async (query, version, message) => {
    const { ask: sendRequest } = await forest();
    const rejection = await sendRequest('GET', `/allocation_candidates?${query}`, undefined, version);
    expect(rejection.status).toBe(400);
    expect(JSON.stringify(rejection.body)).toContain(message);
  });
});

describe('the tree of a provider', () => {
  it('has no loops', async () => {
    const { ask: sendRequest, ids } = await forest();
    const move = (name: string, parent: string) =>
      sendRequest('PUT', `/resource_providers/${ids[name]}`, { name, parent_provider_uuid: ids[parent] });
    const messageOf = (response: { body: { errors: readonly { detail: string }[] } }) =>
      response.body.errors[0]?.detail;
    expect(messageOf(await move('node', 'node'))).toContain('creating loop in the provider tree is not allowed');
    expect(messageOf(await move('node', 'nic-cell1'))).toContain('creating loop in the provider tree is not allowed');
    expect((await move('nic-cell1', 'cell2')).status).toBe(200);
  });
});
