import { expect, it } from 'vitest';
import { NETWORK } from '../clouds.js';
import { networkUnderTest, PUBLIC } from './network-under-test.js';

const KINDS = ['DHCP agent', 'L3 agent', 'Metadata agent', 'Open vSwitch agent'];

it('lists the agents of each host, which are alive while the host is', async () => {
  const { cloud, request } = await networkUnderTest();
  const { agents } = (await request('GET', 'agents')).body;
  const hosts = (await cloud.engine.services.list({ binary: 'nova-compute' })).map(({ service }) => service.host);
  expect(agents.map(({ host, agent_type }: any) => [host, agent_type])).toEqual(
    hosts.flatMap((host) => KINDS.map((kind) => [host, kind])),
  );
  expect(new Set(agents.map(({ id }: any) => id)).size).toBe(agents.length);
  expect(agents[0]).toMatchObject({
    binary: 'neutron-dhcp-agent',
    topic: 'dhcp_agent',
    availability_zone: 'nova',
    admin_state_up: true,
    alive: true,
    heartbeat_timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
  });
  expect(agents[0].configurations).toEqual({});
  const [service] = await cloud.engine.services.list({ host: hosts[0], binary: 'nova-compute' });
  await cloud.engine.services.update(service?.service.id ?? expect.fail('no host'), { forcedDown: true });
  const dead = (await request('GET', 'agents?alive=False')).body.agents;
  expect(dead.map(({ host, agent_type }: any) => [host, agent_type])).toEqual(KINDS.map((kind) => [hosts[0], kind]));
});

it('changes the description and the administrative state of an agent, until it registers again', async () => {
  const { request, asMember } = await networkUnderTest();
  const [first] = (await request('GET', 'agents')).body.agents;
  const path = `agents/${first.id}`;
  const change = { description: 'rack 7', admin_state_up: false };
  expect((await request('PUT', path, { agent: change })).body.agent).toMatchObject({ id: first.id, ...change });
  expect((await request('GET', path)).body.agent).toMatchObject({ id: first.id, ...change });
  expect((await request('PUT', path, { agent: { alive: false } })).status).toBe(400);
  expect((await request('DELETE', path)).status).toBe(204);
  expect((await request('GET', path)).body.agent).toMatchObject({ description: null, admin_state_up: true });
  for (const method of ['GET', 'PUT', 'DELETE'])
    expect(await asMember(method, path, method === 'PUT' ? { agent: change } : undefined)).toMatchObject({
      status: 404,
      type: 'AgentNotFound',
      message: `Agent ${first.id} could not be found.`,
    });
});

it('lists the segments of each network: one for most, several for those that were created with several', async () => {
  const { request, make, asMember } = await networkUnderTest();
  const ofNetwork = async (id: string) => (await request('GET', `segments?network_id=${id}`)).body.segments;
  const fields = {
    'provider:network_type': 'vlan',
    'provider:physical_network': 'rack',
    'provider:segmentation_id': 7,
  };
  const one = await make('networks', 'network', fields);
  expect(await ofNetwork(one.id)).toMatchObject([
    { name: null, description: null, network_type: 'vlan', physical_network: 'rack', segmentation_id: 7 },
  ]);
  const both = [{ ...fields, 'provider:segmentation_id': 8 }, { 'provider:network_type': 'geneve' }];
  const several = await make('networks', 'network', { segments: both });
  expect((await ofNetwork(several.id)).map(({ network_type }: any) => network_type)).toEqual(['vlan', 'geneve']);
  expect(await ofNetwork(PUBLIC)).toMatchObject([{ network_type: 'flat', physical_network: 'public' }]);
  const shown = (await request('GET', `networks/${NETWORK}`)).body.network;
  expect(await ofNetwork(NETWORK)).toMatchObject([
    { network_type: shown['provider:network_type'], segmentation_id: shown['provider:segmentation_id'] },
  ]);
  const [segment] = await ofNetwork(one.id);
  expect((await request('GET', `segments/${segment.id}`)).body.segment).toEqual(segment);
  expect((await asMember('GET', 'segments')).body).toEqual({ segments: [] });
  expect(await asMember('GET', `segments/${segment.id}`)).toMatchObject({ status: 404, type: 'SegmentNotFound' });
});

it('stores names of segments, adds segments, and removes both with their network', async () => {
  const { cloud, request, make, asMember } = await networkUnderTest();
  const network = await make('networks', 'network', {});
  const list = async () => (await request('GET', `segments?network_id=${network.id}`)).body.segments;
  const [own] = await list();
  const named = await request('PUT', `segments/${own.id}`, { segment: { name: 'first' } });
  expect(named.body.segment).toMatchObject({ id: own.id, name: 'first', revision_number: 1 });
  const added = await make('segments', 'segment', {
    network_id: network.id,
    network_type: 'vlan',
    physical_network: 'rack',
    segmentation_id: 8,
    name: 'second',
  });
  expect((await list()).map(({ name }: any) => name)).toEqual(['first', 'second']);
  // The network's provider attributes determine the fields of its initial segment.
  const vlan = { 'provider:network_type': 'vlan', 'provider:physical_network': 'a', 'provider:segmentation_id': 9 };
  expect((await request('PUT', `networks/${network.id}`, { network: vlan })).status).toBe(200);
  expect((await list())[0]).toMatchObject({ id: own.id, name: 'first', network_type: 'vlan', segmentation_id: 9 });
  expect(await request('DELETE', `segments/${own.id}`)).toMatchObject({ status: 409, type: 'SegmentInUse' });
  const given = { network_id: network.id, network_type: 'geneve' };
  expect((await asMember('POST', 'segments', { segment: given })).status).toBe(403);
  const invalid = [
    { ...given, network_id: added.id },
    { ...given, network_type: 'vlan' },
  ];
  for (const [at, status] of [404, 400].entries())
    expect((await request('POST', 'segments', { segment: invalid[at] })).status).toBe(status);
  expect((await request('DELETE', `segments/${added.id}`)).status).toBe(204);
  await make('segments', 'segment', given);
  expect((await request('DELETE', `networks/${network.id}`)).status).toBe(204);
  expect(await list()).toEqual([]);
  expect(cloud.unhandled()).toEqual([]);
});
