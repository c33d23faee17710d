import { readFacts } from './operation-facts.js';
import type { ProjectRequests, ServiceRequests } from './role-requests.js';
import { SAMPLES } from './volume-samples.js';

const VOLUME = '/v3/volumes/{volume_id}';
const SNAPSHOT = '/v3/snapshots/{snapshot_id}';
const ACCEPT = ['volume-transfers', 'os-volume-transfer'].map((path) => `POST /v3/${path}/{transfer_id}/accept`);

const GROUP_SPECS = '/v3/group_types/{group_type_id}/group_specs';
const EXTRA_SPECS = '/v3/types/{type_id}/extra_specs';
const ENCRYPTION = '/v3/types/{type_id}/encryption';
const DEFAULT_TYPE = '/v3/default-types/{project_id}';

const metadata = { metadata: { k: 'v' } };
const encryption = { encryption: { provider: 'luks', control_location: 'front-end' } };
const manageSnapshot = { snapshot: { volume_id: `<${VOLUME}>`, ref: { 'source-name': 'x' } } };

/** The valid bodies in the facts. */
const bodies = Object.fromEntries(
  Object.entries<{ readonly envelope?: string; readonly valid: object }>(readFacts('volume').bodies).map(
    ([operation, { envelope, valid }]) => [operation, envelope ? { [envelope]: valid } : valid],
  ),
);

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
    ...bodies,
    ...metadataRequests(VOLUME).bodies,
    ...metadataRequests(SNAPSHOT).bodies,
    [`PUT ${EXTRA_SPECS}/{key}`]: { k: 'x' },
    [`PUT ${GROUP_SPECS}/{key}`]: { k: 'x' },
    'POST /v3/os-volume-manage': bodies['POST /v3/manageable_volumes'],
    'POST /v3/manageable_snapshots': manageSnapshot,
    'POST /v3/os-snapshot-manage': manageSnapshot,
    'PUT /v3/os-services/thaw': bodies['PUT /v3/os-services/freeze'],
    'POST /v3/backups/{backup_id}/restore': { restore: {} },
    'POST /v3/os-volume-transfer': { transfer: { volume_id: `<${VOLUME}>` } },
    ...Object.fromEntries(ACCEPT.map((operation) => [operation, { accept: { auth_key: 'x' } }])),
  },
  before: {
    ...metadataRequests(VOLUME).before,
    ...metadataRequests(SNAPSHOT).before,
    'PUT /v3/qos-specs/{qos_id}/delete_keys': [['PUT /v3/qos-specs/{qos_id}', { qos_specs: { k: 'v' } }]],
    [`DELETE ${EXTRA_SPECS}/{key}`]: [[`PUT ${EXTRA_SPECS}/{key}`, { k: 'x' }]],
    [`DELETE ${GROUP_SPECS}/{key}`]: [[`POST ${GROUP_SPECS}`, { group_specs: { k: 'x' } }]],
    [`PUT ${ENCRYPTION}/{key}`]: [[`POST ${ENCRYPTION}`, encryption]],
    [`DELETE ${ENCRYPTION}/{key}`]: [[`POST ${ENCRYPTION}`, encryption]],
    [`DELETE ${DEFAULT_TYPE}`]: [[`PUT ${DEFAULT_TYPE}`, bodies[`PUT ${DEFAULT_TYPE}`]]],
  },
  values: {
    key: () => 'k',
    class: () => 'default',
    host: () => 'volumes@simulated',
    project_id: () => 'p',
    transfer_id: (project) => project.id('/v3/volume-transfers/{transfer_id}'),
    message_id: messageId,
  },
  // Only the response to the creation of a transfer contains its key. The cloud has no clusters and no replication.
  rejected: {
    ...Object.fromEntries(ACCEPT.map((operation) => [operation, 400])),
    'POST /v3/backups/import_record': 400,
    'PUT /v3/os-services/failover_host': 400,
    'PUT /v3/clusters/enable': 404,
    'PUT /v3/clusters/disable': 404,
  },
  headers: () => ({ 'OpenStack-API-Version': 'volume 3.71' }),
};
