import { expect } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

/** The external network of the presets. */
export const PUBLIC = '5f3c0c1e-8a5c-4c0a-bd52-6c2a1d3a9b31';

/** Starts a cloud, and returns functions that send requests to its network service as an administrator or a member. */
export async function networkUnderTest() {
  const cloud = await cloudUnderTest();
  const admin = clientOf(cloud);
  const member = clientOf(cloud, cloud.token('demo', 'demo'));
  const requests = (send: typeof admin) => async (method: string, path: string, body?: unknown) => {
    const { status, body: shown } = await send(method, `/network/v2.0/${path}`, body);
    return { status, body: shown, type: shown?.NeutronError?.type, message: shown?.NeutronError?.message };
  };
  const request = requests(admin);
  const make = async (path: string, one: string, given: object) => {
    const created = await request('POST', path, { [one]: given });
    expect(created).toMatchObject({ status: 201 });
    return created.body[one];
  };
  const subnet = async (cidr: string, given: object = {}) => {
    const { id: network_id } = await make('networks', 'network', {});
    const ip_version = cidr.includes(':') ? 6 : 4;
    return make('subnets', 'subnet', { network_id, cidr, ip_version, ...given });
  };
  return { cloud, request, asMember: requests(member), make, subnet };
}
