import { STORE_ID } from '../../src/image/image-view.js';
import { FORMATS, SAMPLES } from './image-samples.js';
import type { SendRequest } from './resource-contract.js';
import type { ServiceRequests } from './role-requests.js';

const IMAGE = '/v2/images/{image_id}';
const TAG = '/v2/metadefs/namespaces/{namespace}/tags/{tag_name}';
const UPLOAD = [`PUT ${IMAGE}/file`, 'x'] as const;

/** Returns the id of the administrator's project. */
const projectId = async (request: SendRequest): Promise<string> =>
  (await request('POST', '/v2/images', { name: 'owned' })).body.owner;

/** The requests of the image service. */
export const imageRequests: ServiceRequests = {
  samples: {
    ...SAMPLES,
    namespace: { create: () => ({ namespace: 'N', visibility: 'public' }), change: { namespace: 'N' } },
    image: { create: () => ({ name: 'shared', ...FORMATS }) },
    member: { create: async (request) => ({ member: await projectId(request) }), change: { status: 'accepted' } },
  },
  bodies: {
    [`PATCH ${IMAGE}`]: [{ op: 'replace', path: '/name', value: 'renamed' }],
    [`PUT ${IMAGE}/file`]: 'x',
    [`PUT ${IMAGE}/stage`]: 'x',
    [`POST ${IMAGE}/import`]: { method: { name: 'glance-direct' } },
    [`POST ${IMAGE}/locations`]: { url: 'http://127.0.0.1/x' },
    'POST /v2/metadefs/namespaces/{namespace}/tags': { tags: [{ name: 'fast' }] },
    [`PUT ${TAG}`]: { name: 'fast' },
  },
  before: {
    [`POST ${IMAGE}/import`]: [[`PUT ${IMAGE}/stage`, 'x']],
    [`POST ${IMAGE}/actions/deactivate`]: [UPLOAD],
    [`POST ${IMAGE}/actions/reactivate`]: [UPLOAD, [`POST ${IMAGE}/actions/deactivate`]],
    [`DELETE ${IMAGE}/tags/{tag_value}`]: [[`PUT ${IMAGE}/tags/{tag_value}`]],
    [`PUT ${TAG}`]: [[`POST ${TAG}`]],
    [`DELETE ${TAG}`]: [[`POST ${TAG}`]],
    'PUT /v2/cache/{image_id}': [UPLOAD],
    'DELETE /v2/stores/{store_id}/{image_id}': [UPLOAD],
  },
  values: {
    image_id: (project) => project.id(IMAGE),
    store_id: () => STORE_ID,
    tag_value: () => 'blue',
    tag_name: () => 'fast',
  },
  // The cloud has no store for the URLs of other servers, and no second store for the data of an image.
  rejected: { [`POST ${IMAGE}/locations`]: 403, 'DELETE /v2/stores/{store_id}/{image_id}': 403 },
  headers(method, path): Record<string, string> {
    if (method === 'PATCH') return { 'Content-Type': 'application/openstack-images-v2.1-json-patch' };
    return /\/(file|stage)$/.test(path) ? { 'Content-Type': 'application/octet-stream' } : {};
  },
};
