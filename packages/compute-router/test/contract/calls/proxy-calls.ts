import { id, named, nothing, type Prepare, withBody } from './call.js';
import { actions } from './server-calls.js';

const withImageItem: Prepare = async (cloud) => ({ params: { image_id: await cloud.image(), id: 'colour' } });
const withGroup = id((cloud) => cloud.securityGroup());
const groupBody = { security_group: { name: 'renamed', description: '' } };

export const proxyCalls: Readonly<Record<string, Prepare>> = {
  'GET /images': nothing,
  'GET /images/detail': nothing,
  'GET /images/{id}': id((cloud) => cloud.image()),
  'DELETE /images/{id}': id((cloud) => cloud.image()),
  'GET /images/{image_id}/metadata': withImageItem,
  'POST /images/{image_id}/metadata': withBody(withImageItem, { metadata: { a: 'b' } }),
  'PUT /images/{image_id}/metadata': withBody(withImageItem, { metadata: { a: 'b' } }),
  'GET /images/{image_id}/metadata/{id}': withImageItem,
  'PUT /images/{image_id}/metadata/{id}': withBody(withImageItem, { meta: { colour: 'red' } }),
  'DELETE /images/{image_id}/metadata/{id}': withImageItem,
  'GET /os-baremetal-nodes': nothing,
  'GET /os-baremetal-nodes/{id}': named('1'),
  'POST /os-baremetal-nodes': () => ({ body: {} }),
  'DELETE /os-baremetal-nodes/{id}': named('1'),
  'POST /os-baremetal-nodes/{id}/action add_interface': withBody(named('1'), { add_interface: {} }),
  'POST /os-baremetal-nodes/{id}/action remove_interface': withBody(named('1'), { remove_interface: {} }),
  'GET /os-fixed-ips/{id}': id(async (cloud) => (await cloud.connected()).addresses.private[0].addr),
  'GET /os-floating-ip-dns': nothing,
  'GET /os-floating-ip-dns/{domain_id}/entries/{id}': () => ({ params: { domain_id: 'example.org', id: 'web' } }),
  'GET /os-floating-ip-pools': nothing,
  'GET /os-floating-ips': nothing,
  'POST /os-floating-ips': () => ({ body: { pool: 'public' } }),
  'GET /os-floating-ips/{id}': id(async (cloud) => (await cloud.floatingIp()).id),
  'DELETE /os-floating-ips/{id}': id(async (cloud) => (await cloud.floatingIp()).id),
  'GET /os-floating-ips-bulk': nothing,
  'GET /os-floating-ips-bulk/{id}': async (cloud, version) => {
    const { params, body } = await actions.addFloatingIp!(cloud, version);
    await cloud.made(cloud.as('2.1').post(`/servers/${params!.id}/action`, body));
    return { params: { id: await cloud.hostOf(params!.id!) } };
  },
  'GET /os-networks': nothing,
  'GET /os-networks/{id}': id(async (cloud) => cloud.ids.network),
  'GET /os-tenant-networks': nothing,
  'GET /os-tenant-networks/{id}': id(async (cloud) => cloud.ids.network),
  'GET /os-security-groups': nothing,
  'POST /os-security-groups': (cloud) => ({ body: { security_group: { name: cloud.name(), description: '' } } }),
  'GET /os-security-groups/{id}': withGroup,
  'PUT /os-security-groups/{id}': withBody(withGroup, groupBody),
  'DELETE /os-security-groups/{id}': withGroup,
  'POST /os-security-group-rules': async (cloud) => ({
    body: {
      security_group_rule: {
        parent_group_id: await cloud.securityGroup(),
        ip_protocol: 'tcp',
        from_port: 80,
        to_port: 80,
      },
    },
  }),
  'DELETE /os-security-group-rules/{id}': id(async (cloud) => {
    const { body } = await proxyCalls['POST /os-security-group-rules']!(cloud, '');
    return (await cloud.made(cloud.as('2.1').post('/os-security-group-rules', body))).security_group_rule.id;
  }),
  'GET /os-snapshots': nothing,
  'GET /os-snapshots/detail': nothing,
  'POST /os-snapshots': async (cloud) => ({ body: { snapshot: { volume_id: await cloud.volume() } } }),
  'GET /os-snapshots/{id}': id((cloud) => cloud.snapshot()),
  'DELETE /os-snapshots/{id}': id((cloud) => cloud.snapshot()),
  'GET /os-volumes': nothing,
  'GET /os-volumes/detail': nothing,
  'POST /os-volumes': () => ({ body: { volume: { size: 1 } } }),
  'GET /os-volumes/{id}': id((cloud) => cloud.volume()),
  'DELETE /os-volumes/{id}': id((cloud) => cloud.volume()),
};
