import { PUBLIC_KEY } from '../cloud.js';
import { from, id, named, nothing, type Prepare, withBody } from './call.js';

const withKeypair = id((cloud) => cloud.keypair());

export const projectCalls: Readonly<Record<string, Prepare>> = {
  'GET /': nothing,
  'GET /extensions': nothing,
  'GET /extensions/{id}': named('os-keypairs'),
  'GET /versions/{id}': named('v2.1'),
  'GET /limits': nothing,
  'GET /os-keypairs': nothing,
  'POST /os-keypairs': (cloud) => ({ body: { keypair: { name: cloud.name('key'), public_key: PUBLIC_KEY } } }),
  'GET /os-keypairs/{id}': withKeypair,
  'DELETE /os-keypairs/{id}': withKeypair,
  'GET /os-migrations': nothing,
  'GET /os-quota-class-sets/{id}': named('gold'),
  'PUT /os-quota-class-sets/{id}': withBody(named('gold'), { quota_class_set: { cores: 7 } }),
  'GET /os-quota-sets/{id}': named('p1'),
  'GET /os-quota-sets/{id}/defaults': named('p1'),
  'GET /os-quota-sets/{id}/detail': named('p1'),
  'PUT /os-quota-sets/{id}': withBody(named('p1'), { quota_set: { cores: -1 } }),
  'DELETE /os-quota-sets/{id}': named('p1'),
  'GET /os-server-groups': nothing,
  'POST /os-server-groups': (cloud, version) => ({
    body: {
      server_group: {
        name: cloud.name('group'),
        ...(from(version, 64) ? { policy: 'affinity' } : { policies: ['affinity'] }),
      },
    },
  }),
  'GET /os-server-groups/{id}': id((cloud) => cloud.group()),
  'DELETE /os-server-groups/{id}': id((cloud) => cloud.group()),
  'GET /os-simple-tenant-usage': nothing,
  'GET /os-simple-tenant-usage/{id}': named('p1'),
  'GET /os-console-auth-tokens/{id}': async (cloud) => {
    const { id: server } = await cloud.server();
    const body = { remote_console: { protocol: 'vnc', type: 'novnc' } };
    const { remote_console } = await cloud.made(cloud.as('2.6').post(`/servers/${server}/remote-consoles`, body));
    return { params: { id: /token(?:=|%3D)([0-9a-f-]{36})$/.exec(remote_console.url)![1]! } };
  },
};
