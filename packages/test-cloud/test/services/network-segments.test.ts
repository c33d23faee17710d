import { describe, expect, it } from 'vitest';
import { networkUnderTest } from './network-under-test.js';

const vlanOn = (physical: string, id?: number) => ({
  'provider:network_type': 'vlan',
  'provider:physical_network': physical,
  ...(id !== undefined && { 'provider:segmentation_id': id }),
});

/** A cloud, and functions that create networks and ranges of segment IDs. */
async function segments() {
  const { request, asMember, make } = await networkUnderTest();
  const network = (fields: object) => make('networks', 'network', fields);
  const segmentId = async (fields: object) => (await network(fields))['provider:segmentation_id'];
  const project = String((await asMember('POST', 'networks', { network: {} })).body.network.project_id);
  const rangeOf = (fields: object) => make('network-segment-ranges', 'network_segment_range', fields);
  return { request, asMember, make, network, segmentId, rangeOf, project };
}

describe('a network without a segment ID in the request', () => {
  it('gets an unused ID of its type and physical network', async () => {
    const { segmentId, network, make } = await segments();
    expect(await segmentId(vlanOn('rack', 1))).toBe(1);
    const ids = [await segmentId(vlanOn('rack')), await segmentId(vlanOn('rack')), await segmentId(vlanOn('attic'))];
    expect(ids).toEqual([2, 3, 1]);
    expect(await segmentId({ 'provider:network_type': 'vxlan' })).toBe(1);
    const several = await network({ segments: [vlanOn('rack'), vlanOn('rack'), { 'provider:network_type': 'vxlan' }] });
    expect(several.segments.map((one: any) => one['provider:segmentation_id'])).toEqual([4, 5, 2]);
    const added = { network_id: several.id, network_type: 'vlan', physical_network: 'rack' };
    expect(await make('segments', 'segment', added)).toMatchObject({ segmentation_id: 6 });
    expect(await segmentId(vlanOn('rack'))).toBe(7);
  });

  it('gets one in the range of its project, and none in the ranges of other projects', async () => {
    const { asMember, request, network, segmentId, rangeOf, project } = await segments();
    await rangeOf({
      shared: false,
      project_id: 'other',
      network_type: 'vlan',
      physical_network: 'rack',
      minimum: 1,
      maximum: 9,
    });
    const own = { shared: false, project_id: project, network_type: 'vxlan', minimum: 1100, maximum: 1101 };
    const { id } = await rangeOf(own);
    expect(await segmentId(vlanOn('rack'))).toBe(10);
    const vxlan = { 'provider:network_type': 'vxlan', project_id: project };
    const inRange = [await network(vxlan), await network(vxlan)];
    expect(inRange.map((one) => one['provider:segmentation_id'])).toEqual([1100, 1101]);
    expect(await segmentId(vxlan)).toBe(1);
    expect(await segmentId({ ...vxlan, project_id: 'other' })).toBe(2);
    await rangeOf({ ...own, network_type: 'geneve', minimum: 500, maximum: 600 });
    const { network: plain } = (await asMember('POST', 'networks', { network: {} })).body;
    expect(plain).not.toHaveProperty('provider:segmentation_id');
    expect((await request('GET', `networks/${plain.id}`)).body.network).toMatchObject({
      'provider:network_type': 'geneve',
      'provider:segmentation_id': 500,
    });
    expect((await request('GET', `network-segment-ranges/${id}`)).body.network_segment_range).toMatchObject({
      used: { 1100: project, 1101: project },
      available: [],
    });
  });
});

describe('a range of segment IDs', () => {
  it('belongs to a project or is shared, and lists its unused IDs', async () => {
    const { rangeOf, asMember } = await segments();
    const shared = await rangeOf({ network_type: 'vxlan', minimum: 1, maximum: 3 });
    expect(shared).toMatchObject({ shared: true, project_id: null, default: false, physical_network: '' });
    expect([shared.used, shared.available]).toEqual([{}, [1, 2, 3]]);
    expect((await asMember('GET', 'network-segment-ranges')).body).toEqual({ network_segment_ranges: [] });
  });

  it('is valid and does not overlap with another one', async () => {
    const { request, rangeOf } = await segments();
    const create = (fields: object) => request('POST', 'network-segment-ranges', { network_segment_range: fields });
    const vlan = { network_type: 'vlan', physical_network: 'rack', minimum: 10, maximum: 20 };
    const { id } = await rangeOf(vlan);
    await rangeOf({ ...vlan, physical_network: 'attic' });
    const overlap = { status: 409, type: 'NetworkSegmentRangeOverlaps', message: expect.stringContaining(id) };
    expect(await create({ ...vlan, minimum: 20, maximum: 30 })).toMatchObject(overlap);
    expect(await create({ ...vlan, physical_network: undefined })).toMatchObject({ status: 400, type: 'BadRequest' });
    expect(await create({ ...vlan, minimum: 30, maximum: 29 })).toMatchObject({ status: 400, type: 'InvalidInput' });
    expect(await create({ ...vlan, minimum: 30, maximum: 4095 })).toMatchObject({ status: 400, type: 'InvalidInput' });
    const second = await rangeOf({ ...vlan, minimum: 30, maximum: 40 });
    const change = { network_segment_range: { minimum: 15 } };
    expect(await request('PUT', `network-segment-ranges/${second.id}`, change)).toMatchObject(overlap);
  });

  it('cannot be deleted, or changed to exclude IDs, while networks use it', async () => {
    const { request, network, rangeOf, project } = await segments();
    const own = { shared: false, project_id: project, network_type: 'vxlan', minimum: 100, maximum: 105 };
    const path = `network-segment-ranges/${(await rangeOf(own)).id}`;
    const { id } = await network({ 'provider:network_type': 'vxlan', project_id: project });
    const inUse = { status: 409, type: 'NetworkSegmentRangeReferencedByProject' };
    expect(await request('DELETE', path)).toMatchObject(inUse);
    expect(await request('PUT', path, { network_segment_range: { minimum: 100 } })).toMatchObject(inUse);
    const wider = { network_segment_range: { minimum: 50, maximum: 155 } };
    expect(await request('PUT', path, wider)).toMatchObject({ status: 200 });
    expect((await request('DELETE', `networks/${id}`)).status).toBe(204);
    expect((await request('DELETE', path)).status).toBe(204);
  });
});
