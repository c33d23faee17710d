import { describe, expect, it } from 'vitest';
import { networkUnderTest } from './network-under-test.js';

const denied = (rule: string) => ({
  status: 403,
  type: 'PolicyNotAuthorized',
  message: `(rule:${rule}) is disallowed by policy`,
});
const notOwned = (what: string) => ({
  status: 400,
  type: 'InvalidInput',
  message: `Invalid input for operation: Only admins can manipulate policies on ${what} they do not own.`,
});

const OTHER = '0'.repeat(32);

describe('members', () => {
  it('share only what they own, and not with all projects', async () => {
    const { request, asMember, make } = await networkUnderTest();
    const policyFor = (object_id: string, more: object = {}) => ({
      rbac_policy: {
        object_type: 'network',
        object_id,
        target_tenant: OTHER,
        action: 'access_as_shared',
        ...more,
      },
    });
    const { network: own } = (await asMember('POST', 'networks', { network: { name: 'own' } })).body;
    const shared = await make('networks', 'network', { project_id: OTHER, shared: true });
    const hidden = await make('networks', 'network', { project_id: OTHER });
    for (const action of ['access_as_shared', 'access_as_external'])
      expect(await asMember('POST', 'rbac-policies', policyFor(own.id, { action, target_tenant: '*' }))).toMatchObject(
        denied('create_rbac_policy:target_tenant'),
      );
    expect(await asMember('POST', 'rbac-policies', policyFor(shared.id))).toMatchObject(notOwned('networks'));
    expect(await asMember('POST', 'rbac-policies', policyFor(hidden.id))).toMatchObject({ status: 404 });
    const group = await make('address-groups', 'address_group', { name: 'g', project_id: OTHER });
    const ofGroup = { object_type: 'address_group' };
    expect(await asMember('POST', 'rbac-policies', policyFor(group.id, ofGroup))).toMatchObject(notOwned('objects'));
    expect(await asMember('POST', 'rbac-policies', policyFor(hidden.id, ofGroup))).toMatchObject({ status: 404 });

    const created = await asMember('POST', 'rbac-policies', policyFor(own.id));
    expect(created).toMatchObject({ status: 201 });
    const path = `rbac-policies/${created.body.rbac_policy.id}`;
    const forAll = { rbac_policy: { target_tenant: '*' } };
    expect(await asMember('PUT', path, forAll)).toMatchObject(denied('update_rbac_policy:target_tenant'));
    const isShared = async () => (await request('GET', `networks/${own.id}`)).body.network.shared;
    expect(await isShared()).toBe(false);
    expect((await request('PUT', path, forAll)).status).toBe(200);
    expect(await isShared()).toBe(true);
    expect((await asMember('DELETE', path)).status).toBe(204);
    expect(await isShared()).toBe(false);
  });

  it('see QoS policies, and do not change them', async () => {
    const { asMember, make } = await networkUnderTest();
    const policy = { policy: { name: 'mine' } };
    expect(await asMember('POST', 'qos/policies', policy)).toMatchObject(denied('create_policy'));
    const { id } = await make('qos/policies', 'policy', { name: 'slow', shared: true });
    expect((await asMember('GET', `qos/policies/${id}`)).body.policy).toMatchObject({ name: 'slow' });
    expect(await asMember('PUT', `qos/policies/${id}`, policy)).toMatchObject(denied('update_policy'));
    expect(await asMember('DELETE', `qos/policies/${id}`)).toMatchObject(denied('delete_policy'));
    const rule = { bandwidth_limit_rule: { max_kbps: 1 } };
    const rules = `qos/policies/${id}/bandwidth_limit_rules`;
    expect(await asMember('POST', rules, rule)).toMatchObject({ status: 403, type: 'PolicyNotAuthorized' });
    expect((await asMember('GET', rules)).status).toBe(200);
  });
});
