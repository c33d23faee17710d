import type { ProjectRequests, ServiceRequests } from './role-requests.js';
import { SAMPLES } from './volume-samples.js';

const VOLUME = '/v3/volumes/{volume_id}';
const SNAPSHOT = '/v3/snapshots/{snapshot_id}';
const ACCEPT = ['volume-transfers', 'os-volume-transfer'].map((path) => `POST /v3/${path}/{transfer_id}/accept`);

const metadata = { metadata: { k: 'v' } };

/** The requests for the metadata of volumes or volume snapshots. */
const metadataRequests = (path: string) => ({
  bodies: {
    [`POST ${path}/metadata`]: metadata,
    [`PUT ${path}/metadata`]: metadata,
    [`PUT ${path}/metadata/{key}`]: { meta: { k: 'v' } },
  },
  before: { [`DELETE ${path}/metadata/{key}`]: [[`POST ${path}/metadata`, metadata]] as const },
});

/** Creates a volume that no pool can store, and returns the id of the message about the failure. */
async function messageId({ admin }: ProjectRequests): Promise<string> {
  const type = { name: 'unavailable', extra_specs: { volume_backend_name: 'other' } };
  const { id } = (await admin('POST', '/v3/types', { volume_type: type })).body.volume_type;
  await admin('POST', '/v3/volumes', { volume: { size: 1, volume_type: id } });
  return (await admin('GET', '/v3/messages')).body.messages[0].id;
}

/** The requests of the volume service. */
export const volumeRequests: ServiceRequests = {
  samples: {
    ...Object.fromEntries(
      Object.entries(SAMPLES).map(([name, { body, change }]) => [
        name,
        { create: (request) => body((method, path, content) => request(method, `/v3/${path}`, content)), change },
      ]),
    ),
    attachment: {
      create: async (request) => ({
        volume_uuid: (await request('POST', '/v3/volumes', { volume: { size: 1 } })).body.volume.id,
      }),
      change: { connector: { host: 'x' } },
    },
    qos_specs: { create: () => ({ name: 'q' }), change: {} },
  },
  bodies: {
    ...metadataRequests(VOLUME).bodies,
    ...metadataRequests(SNAPSHOT).bodies,
    'PUT /v3/types/{type_id}/extra_specs/{key}': { k: 'x' },
    'PUT /v3/group_types/{group_type_id}/group_specs/{key}': { k: 'x' },
    'POST /v3/backups/{backup_id}/restore': { restore: {} },
    'POST /v3/os-volume-transfer': { transfer: { volume_id: `<${VOLUME}>` } },
    ...Object.fromEntries(ACCEPT.map((operation) => [operation, { accept: { auth_key: 'x' } }])),
  },
  before: { ...metadataRequests(VOLUME).before, ...metadataRequests(SNAPSHOT).before },
  values: {
    key: () => 'k',
    class: () => 'default',
    host: () => 'volumes@simulated',
    project_id: () => 'p',
    transfer_id: (project) => project.id('/v3/volume-transfers/{transfer_id}'),
    message_id: messageId,
  },
  // Only the response to the creation of a transfer contains its key.
  rejected: Object.fromEntries(ACCEPT.map((operation) => [operation, 400])),
  headers: () => ({ 'OpenStack-API-Version': 'volume 3.71' }),
};
