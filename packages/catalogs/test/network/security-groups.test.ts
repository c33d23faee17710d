import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ada,
  bob,
  member,
  type NetworksUnderTest,
  networksUnderTest,
  newPortRequest,
  SHARED,
} from './networks-under-test.js';

describe.each(networksUnderTest)('security groups of the embedded networks on $kind', ({ open }) => {
  let cloud: NetworksUnderTest;
  let networks: NetworksUnderTest['networks'];
  let port: NetworksUnderTest['port'];

  beforeAll(async () => {
    cloud = await open();
    ({ networks, port } = cloud);
  });
  afterAll(() => cloud.close());

  it('include one default group per project, even if its first uses are concurrent', async () => {
    const fred = member('fred');
    const found = await Promise.all([1, 2, 3, 4].map(() => networks.resolveSecurityGroups(fred, ['default'])));
    expect(new Set(found.map(([group]) => group!.id)).size).toBe(1);
    const [group] = await networks.listSecurityGroups(fred);
    expect(group).toMatchObject({ name: 'default', projectId: 'p-fred' });
    expect(group!.rules.map((rule) => `${rule.direction} ${rule.ethertype}`).sort()).toEqual([
      'egress IPv4',
      'egress IPv6',
      'ingress IPv4',
      'ingress IPv6',
    ]);
    await expect(networks.deleteSecurityGroup(fred, group!.id)).rejects.toMatchObject({ status: 400 });
  });

  it('are found by name or id, and an ambiguous name is rejected', async () => {
    const one = await networks.createSecurityGroup(ada, { name: 'twins' });
    await networks.createSecurityGroup(ada, { name: 'twins' });
    await expect(networks.resolveSecurityGroups(ada, ['twins'])).rejects.toMatchObject({
      code: 'SECURITY_GROUP_AMBIGUOUS',
      status: 409,
    });
    expect(await networks.resolveSecurityGroups(ada, [one.id])).toEqual([{ id: one.id, name: 'twins' }]);
    await expect(networks.resolveSecurityGroups(bob, [one.id])).rejects.toMatchObject({
      code: 'SECURITY_GROUP_NOT_FOUND',
    });
    await expect(port(SHARED, { securityGroups: ['nobody'] })).rejects.toMatchObject({
      code: 'SECURITY_GROUP_NOT_FOUND',
    });
  });

  it('are added to all ports of a server and removed from them', async () => {
    const deviceId = randomUUID();
    await networks.createPorts(ada, [newPortRequest(SHARED, { deviceId }), newPortRequest(SHARED, { deviceId })]);
    const { id } = await networks.createSecurityGroup(ada, { name: 'extra' });
    await networks.addSecurityGroup(ada, deviceId, 'extra');
    await networks.addSecurityGroup(ada, deviceId, id);
    const names = async () =>
      (await networks.listPorts(ada, { deviceIds: [deviceId] })).map((one) => one.securityGroups.map((g) => g.name));
    expect(await names()).toEqual([
      ['default', 'extra'],
      ['default', 'extra'],
    ]);
    await expect(networks.deleteSecurityGroup(ada, id)).rejects.toMatchObject({ code: 'SECURITY_GROUP_IN_USE' });
    await networks.removeSecurityGroup(ada, deviceId, 'extra');
    await expect(networks.removeSecurityGroup(ada, deviceId, 'extra')).rejects.toMatchObject({
      code: 'SECURITY_GROUP_NOT_ASSOCIATED',
      status: 404,
    });
    await networks.deleteSecurityGroup(ada, id);
    expect(await names()).toEqual([['default'], ['default']]);
  });

  it('have rules, and reject duplicate and contradictory ones', async () => {
    const { id: securityGroupId } = await networks.createSecurityGroup(ada, { name: 'rules' });
    const ssh = {
      securityGroupId,
      direction: 'ingress',
      protocol: 'TCP',
      portMin: 22,
      portMax: 22,
      remoteCidr: '0.0.0.0/0',
    } as const;
    const rule = await networks.createSecurityGroupRule(ada, ssh);
    expect(rule).toMatchObject({ protocol: 'tcp', ethertype: 'IPv4', remoteCidr: '0.0.0.0/0' });
    await expect(networks.createSecurityGroupRule(ada, ssh)).rejects.toMatchObject({
      code: 'SECURITY_GROUP_RULE_EXISTS',
    });
    for (const wrong of [{ remoteCidr: 'x' }, { portMin: 23 }, { protocol: null }, { ethertype: 'IPv6' as const }])
      await expect(networks.createSecurityGroupRule(ada, { ...ssh, ...wrong })).rejects.toMatchObject({
        code: 'SECURITY_GROUP_RULE_INVALID',
      });
    await expect(networks.createSecurityGroupRule(bob, ssh)).rejects.toMatchObject({
      code: 'SECURITY_GROUP_NOT_FOUND',
    });
    await expect(networks.deleteSecurityGroupRule(bob, rule.id)).rejects.toMatchObject({ kind: 'not-found' });
    await networks.deleteSecurityGroupRule(ada, rule.id);
    expect((await networks.getSecurityGroup(ada, securityGroupId)).rules).toHaveLength(2);
  });
});
