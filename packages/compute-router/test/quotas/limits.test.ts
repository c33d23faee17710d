import { describe, expect, it } from 'vitest';
import { apiUnderTest } from '../api-under-test.js';
import { sharedByTests } from '../shared-by-tests.js';

const always = {
  maxServerMeta: 128,
  maxServerGroups: 10,
  maxServerGroupMembers: 10,
  maxTotalCores: 20,
  maxTotalInstances: 10,
  maxTotalKeypairs: 100,
  maxTotalRAMSize: 51200,
  totalCoresUsed: 0,
  totalInstancesUsed: 0,
  totalRAMUsed: 0,
  totalServerGroupsUsed: 0,
};
const until35 = {
  maxSecurityGroups: -1,
  maxSecurityGroupRules: -1,
  maxTotalFloatingIps: -1,
  totalFloatingIpsUsed: 0,
  totalSecurityGroupsUsed: 0,
};
const until38 = { maxImageMeta: 128 };
const until56 = { maxPersonality: 5, maxPersonalitySize: 10240 };

describe('limits', () => {
  const api = sharedByTests(() => apiUnderTest({ router: { maxVersion: '2.104' } }));

  it.each([
    ['2.1', { ...always, ...until35, ...until38, ...until56 }],
    ['2.35', { ...always, ...until35, ...until38, ...until56 }],
    ['2.36', { ...always, ...until38, ...until56 }],
    ['2.38', { ...always, ...until38, ...until56 }],
    ['2.39', { ...always, ...until56 }],
    ['2.56', { ...always, ...until56 }],
    ['2.57', always],
    ['2.104', always],
  ])('are shown at %s, without rates', async (version, absolute) => {
    expect((await api.as('eve:nothing', version).get('/limits')).body).toEqual({ limits: { rate: [], absolute } });
  });

  it('show the usage and the limits of the project', async () => {
    const ada = api.as('ada:p1', '2.57');
    await ada.boot({ flavorRef: '2' });
    await ada.post('/os-server-groups', { server_group: { name: 'g', policies: ['soft-affinity'] } });
    await api.as('admin:p1', '2.57').put('/os-quota-sets/p1', { quota_set: { cores: 7, key_pairs: -1 } });
    expect((await ada.get('/limits')).body.limits.absolute).toEqual({
      ...always,
      maxTotalCores: 7,
      maxTotalKeypairs: -1,
      totalCoresUsed: 1,
      totalInstancesUsed: 1,
      totalRAMUsed: 2048,
      totalServerGroupsUsed: 1,
    });
    const others = await api.as('admin:p9', '2.57').get('/limits?tenant_id=p1');
    expect(others.body.limits.absolute).toMatchObject({ maxTotalCores: 7, totalInstancesUsed: 1 });
  });

  it('of other projects are for administrators', async () => {
    const rejected = await api.as('ada:p1', '2.57').get('/limits?tenant_id=p2');
    expect(rejected.status).toBe(403);
    expect(rejected.body.forbidden.message).toContain('os_compute_api:limits:other_project');
  });

  it('reject unknown parameters since 2.75', async () => {
    expect((await api.as('ada:p1', '2.74').get('/limits?reserved=1')).status).toBe(200);
    expect((await api.as('ada:p1', '2.75').get('/limits?reserved=1')).status).toBe(400);
    expect((await api.as('admin:p1', '2.100').get('/limits?tenant_id=%00')).status).toBe(400);
  });
});

describe('the catalog of extensions', () => {
  it('lists the former extensions of the API, and shows each by its alias', async () => {
    const api = await apiUnderTest();
    const ada = api.as('ada:p1');
    const { extensions } = (await ada.get('/extensions')).body;
    expect(extensions.length).toBeGreaterThan(90);
    const aliases = extensions.map(({ alias }: any) => alias);
    expect(new Set(aliases).size).toBe(aliases.length);
    for (const alias of ['os-keypairs', 'OS-DCF', 'os-floating-ips', 'os-volumes', 'os-extended-volumes'])
      expect(aliases).toContain(alias);
    for (const extension of extensions) {
      expect(extension).toEqual({
        alias: expect.any(String),
        name: expect.any(String),
        description: expect.any(String),
        links: [],
        namespace: expect.stringMatching(/^http:/),
        updated: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      });
    }
    expect((await ada.get('/extensions/os-keypairs')).body).toEqual({
      extension: extensions.find(({ alias }: any) => alias === 'os-keypairs'),
    });
    for (const unknown of ['nothing', 'constructor', 'OS-KEYPAIRS'])
      expect((await ada.get(`/extensions/${unknown}`)).status).toBe(404);
    await api.close();
  });
});
