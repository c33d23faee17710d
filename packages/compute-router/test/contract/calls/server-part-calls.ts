import { type Prepare, withConnectedParent, withParent } from './call.js';

const withAttachment: Prepare = async (cloud) => ({ params: await cloud.attached() });

const withInterface: Prepare = async (cloud) => {
  const { id: server_id } = await cloud.connected();
  const { interfaceAttachments } = await cloud.made(cloud.as('2.1').get(`/servers/${server_id}/os-interface`));
  return { params: { server_id, id: interfaceAttachments[0].port_id } };
};

const withMetadata: Prepare = async (cloud) => ({
  params: { server_id: (await cloud.server([], { metadata: { colour: 'blue' } })).id, id: 'colour' },
});

const withTags: Prepare = async (cloud) => {
  const { id: server_id } = await cloud.server();
  await cloud.made(cloud.as('2.26').put(`/servers/${server_id}/tags`, { tags: ['red'] }));
  return { params: { server_id, id: 'red' } };
};

const withMigration: Prepare = async (cloud) => {
  const { server_id, id, release } = await cloud.moving();
  return { params: { server_id, id }, after: release };
};

export const serverPartCalls: Readonly<Record<string, Prepare>> = {
  'GET /servers/{server_id}/diagnostics': withConnectedParent,
  'GET /servers/{server_id}/ips': withConnectedParent,
  'GET /servers/{server_id}/ips/{id}': async (cloud) => ({
    params: { server_id: (await cloud.connected()).id, id: 'private' },
  }),
  'GET /servers/{server_id}/metadata': withParent,
  'POST /servers/{server_id}/metadata': async (cloud) => ({
    ...(await withParent(cloud, '')),
    body: { metadata: { a: 'b' } },
  }),
  'PUT /servers/{server_id}/metadata': async (cloud) => ({
    ...(await withParent(cloud, '')),
    body: { metadata: { a: 'b' } },
  }),
  'GET /servers/{server_id}/metadata/{id}': withMetadata,
  'PUT /servers/{server_id}/metadata/{id}': async (cloud) => ({
    ...(await withMetadata(cloud, '')),
    body: { meta: { colour: 'red' } },
  }),
  'DELETE /servers/{server_id}/metadata/{id}': withMetadata,
  'GET /servers/{server_id}/migrations': withMigration,
  'GET /servers/{server_id}/migrations/{id}': withMigration,
  'DELETE /servers/{server_id}/migrations/{id}': withMigration,
  'POST /servers/{server_id}/migrations/{id}/action force_complete': async (cloud) => ({
    ...(await withMigration(cloud, '')),
    body: { force_complete: null },
  }),
  'GET /servers/{server_id}/os-instance-actions': withParent,
  'GET /servers/{server_id}/os-instance-actions/{id}': async (cloud) => {
    const { id: server_id } = await cloud.server();
    const path = `/servers/${server_id}/os-instance-actions`;
    const { instanceActions } = await cloud.made(cloud.as('2.1').get(path));
    return { params: { server_id, id: instanceActions[0].request_id } };
  },
  'GET /servers/{server_id}/os-interface': withConnectedParent,
  'POST /servers/{server_id}/os-interface': async (cloud) => ({
    ...(await withParent(cloud, '')),
    body: { interfaceAttachment: { net_id: cloud.ids.network } },
  }),
  'GET /servers/{server_id}/os-interface/{id}': withInterface,
  'DELETE /servers/{server_id}/os-interface/{id}': withInterface,
  'GET /servers/{server_id}/os-virtual-interfaces': withConnectedParent,
  'GET /servers/{server_id}/os-server-password': withParent,
  'DELETE /servers/{server_id}/os-server-password': withParent,
  'GET /servers/{server_id}/os-volume_attachments': withAttachment,
  'POST /servers/{server_id}/os-volume_attachments': async (cloud) => ({
    ...(await withParent(cloud, '')),
    body: { volumeAttachment: { volumeId: await cloud.volume() } },
  }),
  'GET /servers/{server_id}/os-volume_attachments/{id}': withAttachment,
  'PUT /servers/{server_id}/os-volume_attachments/{id}': async (cloud) => {
    const params = await cloud.attached();
    return { params, body: { volumeAttachment: { volumeId: await cloud.beginVolumeMigration(params.id) } } };
  },
  'DELETE /servers/{server_id}/os-volume_attachments/{id}': withAttachment,
  'POST /servers/{server_id}/remote-consoles': async (cloud) => ({
    ...(await withParent(cloud, '')),
    body: { remote_console: { protocol: 'vnc', type: 'novnc' } },
  }),
  'GET /servers/{server_id}/os-security-groups': withConnectedParent,
  'GET /servers/{server_id}/shares': async (cloud) => ({ params: await cloud.shared() }),
  'POST /servers/{server_id}/shares': async (cloud) => ({
    params: { server_id: (await cloud.server(['os-stop'])).id },
    body: { share: { share_id: await cloud.share() } },
  }),
  'GET /servers/{server_id}/shares/{id}': async (cloud) => ({ params: await cloud.shared() }),
  'DELETE /servers/{server_id}/shares/{id}': async (cloud) => ({ params: await cloud.shared() }),
  'GET /servers/{server_id}/tags': withTags,
  'PUT /servers/{server_id}/tags': async (cloud) => ({ ...(await withTags(cloud, '')), body: { tags: ['blue'] } }),
  'DELETE /servers/{server_id}/tags': withTags,
  'GET /servers/{server_id}/tags/{id}': withTags,
  'PUT /servers/{server_id}/tags/{id}': withTags,
  'DELETE /servers/{server_id}/tags/{id}': withTags,
  'GET /servers/{server_id}/topology': async (cloud) => {
    const flavorRef = await cloud.flavor({ vcpus: 2 });
    const extra_specs = { 'hw:numa_nodes': '2', 'hw:cpu_policy': 'dedicated' };
    await cloud.made(cloud.as('2.1').post(`/flavors/${flavorRef}/os-extra_specs`, { extra_specs }));
    return { params: { server_id: (await cloud.server([], { flavorRef })).id } };
  },
};
