import { describe, expect, it } from 'vitest';
import { clientOf } from '../clouds.js';
import { networkUnderTest, PUBLIC } from './network-under-test.js';

/** A cloud with two members of different projects, and functions that share objects with them. */
async function grants() {
  const { cloud, request, asMember, make } = await networkUnderTest();
  const send = clientOf(cloud, cloud.token('other', 'other'));
  const asOther = async (method: string, path: string, body?: unknown) => {
    const { status, body: shown } = await send(method, `/network/v2.0/${path}`, body);
    return { status, body: shown, type: shown?.NeutronError?.type };
  };
  const projectOf = async (member: typeof asOther) => {
    const { body } = await member('POST', 'networks', { network: {} });
    return String(body.network.project_id);
  };
  const [own, other] = [await projectOf(asMember), await projectOf(asOther)];
  const share = (object_type: string, object_id: string, target_tenant: string, action = 'access_as_shared') =>
    make('rbac-policies', 'rbac_policy', { object_type, object_id, target_tenant, action });
  const policiesOf = async (id: string) =>
    (await request('GET', `rbac-policies?object_id=${id}`)).body.rbac_policies as readonly Record<string, string>[];
  return { request, asMember, asOther, make, own, other, share, policiesOf };
}

describe('a policy for one project', () => {
  it('lets its members see and use a network, and no others', async () => {
    const { request, asMember, asOther, make, own, share } = await grants();
    const { id } = await make('networks', 'network', { name: 'lent', project_id: 'owner' });
    const subnet = await make('subnets', 'subnet', { network_id: id, cidr: '10.77.0.0/24', ip_version: 4 });
    expect((await asMember('GET', `networks/${id}`)).status).toBe(404);
    const policy = await share('network', id, own);

    expect((await asMember('GET', `networks/${id}`)).body.network).toMatchObject({ name: 'lent', shared: true });
    expect((await asMember('GET', 'networks?name=lent')).body.networks).toHaveLength(1);
    expect((await asMember('GET', 'networks?name=lent&shared=True')).body.networks).toHaveLength(1);
    expect((await asMember('GET', `subnets/${subnet.id}`)).status).toBe(200);
    expect((await asMember('GET', 'subnets?cidr=10.77.0.0/24')).body.subnets).toHaveLength(1);
    expect((await asOther('GET', `networks/${id}`)).status).toBe(404);
    expect((await asOther('GET', 'networks?name=lent')).body.networks).toEqual([]);
    expect((await asOther('GET', 'subnets?cidr=10.77.0.0/24')).body.subnets).toEqual([]);
    expect((await asMember('PUT', `networks/${id}`, { network: { name: 'x' } })).status).toBe(403);

    const { port } = (await asMember('POST', 'ports', { port: { network_id: id } })).body;
    const path = `rbac-policies/${policy.id}`;
    expect(await request('DELETE', path)).toMatchObject({ status: 409, type: 'RbacPolicyInUse' });
    expect((await asMember('DELETE', `ports/${port.id}`)).status).toBe(204);
    expect((await request('DELETE', path)).status).toBe(204);
    expect((await asMember('GET', `networks/${id}`)).status).toBe(404);
  });

  it('makes a network external for it alone', async () => {
    const { asMember, asOther, request, make, own, share, policiesOf } = await grants();
    const { id } = await make('networks', 'network', { name: 'uplink', project_id: 'owner' });
    await make('subnets', 'subnet', { network_id: id, cidr: '192.0.2.0/24', ip_version: 4 });
    const policy = await share('network', id, own, 'access_as_external');
    expect((await request('GET', `networks/${id}`)).body.network['router:external']).toBe(true);
    const external_gateway_info = { network_id: id };
    const floatingip = { floating_network_id: id };
    const { router } = (await asMember('POST', 'routers', { router: { external_gateway_info } })).body;
    expect((await asMember('POST', 'floatingips', { floatingip })).status).toBe(201);
    expect(await asOther('POST', 'routers', { router: { external_gateway_info } })).toMatchObject({
      status: 404,
      type: 'NetworkNotFound',
    });
    expect((await asOther('POST', 'floatingips', { floatingip })).status).toBe(404);
    expect((await asOther('GET', 'networks?name=uplink')).body.networks).toEqual([]);

    const path = `rbac-policies/${policy.id}`;
    expect(await request('DELETE', path)).toMatchObject({ status: 409, type: 'RbacPolicyInUse' });
    await share('network', id, '*', 'access_as_external');
    expect((await asOther('GET', `networks/${id}`)).status).toBe(200);
    expect((await request('DELETE', path)).status).toBe(204);
    const [wildcard] = await policiesOf(id);
    expect(await request('DELETE', `rbac-policies/${wildcard?.id}`)).toMatchObject({ status: 409 });
    expect((await asMember('DELETE', `routers/${router.id}`)).status).toBe(204);
    expect((await request('DELETE', `rbac-policies/${wildcard?.id}`)).status).toBe(204);
    expect((await request('GET', `networks/${id}`)).body.network['router:external']).toBe(false);
  });

  it('lets its members allocate subnets from a subnet pool', async () => {
    const { asMember, asOther, make, own, share } = await grants();
    const pool = await make('subnetpools', 'subnetpool', {
      name: 'p',
      prefixes: ['10.90.0.0/16'],
      project_id: 'owner',
    });
    await share('subnetpool', pool.id, own);
    const allocate = async (send: typeof asOther) => {
      const { body } = await send('POST', 'networks', { network: {} });
      const subnet = { network_id: body.network.id, ip_version: 4, subnetpool_id: pool.id, prefixlen: 24 };
      return send('POST', 'subnets', { subnet });
    };
    expect((await allocate(asMember)).status).toBe(201);
    expect(await allocate(asOther)).toMatchObject({ status: 404, type: 'SubnetPoolNotFound' });
  });

  it('cannot be deleted or moved while its members use the object', async () => {
    const { request, asMember, make, own, other, share } = await grants();
    const owned = { name: 'lent', project_id: 'owner' };
    const inUse = { status: 409, type: 'RbacPolicyInUse' };
    const { id: scope } = await make('address-scopes', 'address_scope', { ...owned, ip_version: 4 });
    const { id: pool } = await make('subnetpools', 'subnetpool', {
      ...owned,
      prefixes: ['10.90.0.0/16'],
      default_prefixlen: 24,
    });
    const { id: group } = await make('address-groups', 'address_group', { ...owned, addresses: ['10.1.0.0/16'] });
    const { network } = (await asMember('POST', 'networks', { network: {} })).body;
    const { security_group } = (await asMember('POST', 'security-groups', { security_group: { name: 'g' } })).body;
    const users: Record<string, [string, string, string, object]> = {
      address_scope: [
        scope,
        'subnetpools',
        'subnetpool',
        { name: 'p', prefixes: ['10.91.0.0/16'], address_scope_id: scope },
      ],
      subnetpool: [pool, 'subnets', 'subnet', { network_id: network.id, ip_version: 4, subnetpool_id: pool }],
      address_group: [
        group,
        'security-group-rules',
        'security_group_rule',
        { security_group_id: security_group.id, direction: 'ingress', remote_address_group_id: group },
      ],
    };
    for (const [type, [id, path, one, fields]] of Object.entries(users)) {
      expect((await asMember('POST', path, { [one]: fields })).status, type).toBe(404);
      const policyPath = `rbac-policies/${(await share(type, id, own)).id}`;
      const { status, body } = await asMember('POST', path, { [one]: fields });
      expect(status, JSON.stringify(body)).toBe(201);
      expect(await request('DELETE', policyPath), type).toMatchObject(inUse);
      const moved = { rbac_policy: { target_tenant: other } };
      expect(await request('PUT', policyPath, moved), type).toMatchObject(inUse);
      const toAll = await share(type, id, '*');
      expect((await request('PUT', policyPath, moved)).status, type).toBe(200);
      expect(await request('DELETE', `rbac-policies/${toAll.id}`), type).toMatchObject(inUse);
      expect((await asMember('DELETE', `${path}/${body[one].id}`)).status, type).toBe(204);
      expect((await request('DELETE', `rbac-policies/${toAll.id}`)).status, type).toBe(204);
      expect((await request('DELETE', policyPath)).status, type).toBe(204);
    }
  });

  it('shares a subnet pool only with projects that can use its address scope', async () => {
    const { request, make, own, other, share } = await grants();
    const { id: address_scope_id } = await make('address-scopes', 'address_scope', { name: 's', ip_version: 4 });
    const pool = { name: 'p', prefixes: ['10.90.0.0/16'], address_scope_id };
    const { id: object_id } = await make('subnetpools', 'subnetpool', pool);
    const policyFor = (target_tenant: string) => ({
      rbac_policy: { object_type: 'subnetpool', object_id, target_tenant, action: 'access_as_shared' },
    });
    await share('address_scope', address_scope_id, own);
    expect((await request('POST', 'rbac-policies', policyFor(own))).status).toBe(201);
    expect(await request('POST', 'rbac-policies', policyFor(other))).toMatchObject({
      status: 400,
      type: 'InvalidInput',
      message: expect.stringContaining("target project doesn't have access to associated address scope"),
    });
    await share('address_scope', address_scope_id, '*');
    expect((await request('POST', 'rbac-policies', policyFor(other))).status).toBe(201);
  });

  it('lets its members see and use a QoS policy', async () => {
    const { request, asMember, asOther, make, own, other, share } = await grants();
    const { id } = await make('qos/policies', 'policy', { name: 'slow', project_id: 'owner' });
    const network = { qos_policy_id: id };
    expect(await asMember('POST', 'networks', { network })).toMatchObject({ status: 404, type: 'QosPolicyNotFound' });
    const policy = await share('qos_policy', id, own);
    expect((await asMember('GET', `qos/policies/${id}`)).body.policy).toMatchObject({ shared: true });
    expect((await asOther('GET', `qos/policies/${id}`)).status).toBe(404);
    expect((await asOther('GET', `qos/policies/${id}/bandwidth_limit_rules`)).status).toBe(404);
    expect((await asMember('POST', 'networks', { network })).status).toBe(201);
    const moved = { rbac_policy: { target_tenant: other } };
    expect(await request('PUT', `rbac-policies/${policy.id}`, moved)).toMatchObject({
      status: 409,
      type: 'RbacPolicyInUse',
    });
    expect((await request('GET', `qos/policies/${id}`)).body.policy).not.toHaveProperty('shared_with');
  });
});

describe('the list of policies', () => {
  it('contains those of networks that were created as shared or external', async () => {
    const { request, make, policiesOf } = await grants();
    const { id } = await make('networks', 'network', { 'router:external': true });
    const [policy, ...others] = await policiesOf(id);
    expect(others).toEqual([]);
    expect(policy).toMatchObject({ action: 'access_as_external', target_tenant: '*', object_type: 'network' });
    await request('PUT', `networks/${id}`, { network: { 'router:external': false } });
    expect(await policiesOf(id)).toEqual([]);
  });

  it('contains a policy for all projects if a network becomes external again', async () => {
    const { request, make, own, share, policiesOf } = await grants();
    const { id } = await make('networks', 'network', {});
    await share('network', id, own, 'access_as_external');
    for (const isExternal of [false, true])
      await request('PUT', `networks/${id}`, { network: { 'router:external': isExternal } });
    expect((await policiesOf(id)).map(({ target_tenant }) => target_tenant)).toEqual(['*']);
  });

  it('keeps the id of a policy whose target changes, and omits the policies of deleted objects', async () => {
    const { request, make, own, share, policiesOf } = await grants();
    const { id } = await make('networks', 'network', {});
    const policy = await share('network', id, '*');
    const changed = await request('PUT', `rbac-policies/${policy.id}`, { rbac_policy: { target_tenant: own } });
    expect(changed.body.rbac_policy).toEqual({ ...policy, target_tenant: own });
    expect(await policiesOf(id)).toEqual([changed.body.rbac_policy]);
    expect(
      await request('POST', 'rbac-policies', { rbac_policy: { ...without(policy), target_tenant: own } }),
    ).toMatchObject({
      status: 409,
      type: 'DuplicateRbacPolicy',
    });
    expect((await request('DELETE', `networks/${id}`)).status).toBe(204);
    expect(await policiesOf(id)).toEqual([]);
  });

  it('contains all policies that were created concurrently', async () => {
    const { make, share, policiesOf } = await grants();
    const { id } = await make('networks', 'network', {});
    const targets = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(32));
    await Promise.all(targets.map((target) => share('network', id, target)));
    expect((await policiesOf(id)).map(({ target_tenant }) => target_tenant).sort()).toEqual(targets);
  });

  it('keeps the policy of a default external network', async () => {
    const { request, policiesOf } = await grants();
    await request('PUT', `networks/${PUBLIC}`, { network: { is_default: true } });
    const [policy] = await policiesOf(PUBLIC);
    expect(await request('DELETE', `rbac-policies/${policy?.id}`)).toMatchObject({
      status: 409,
      type: 'RbacPolicyInUse',
    });
  });
});

/** Returns the policy fields that a create request contains. */
function without({ object_type, object_id, action }: Record<string, string>) {
  return { object_type, object_id, action };
}
