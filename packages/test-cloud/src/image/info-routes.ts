import type { Call } from '../service/call.js';
import { get, openGet, Reply, type Route } from '../service/route.js';
import { STORE_ID } from './image-view.js';
import { importMethods } from './import-routes.js';
import { requirePolicy } from './policies.js';
import { SCHEMAS } from './schemas.js';
import { withoutBody } from './without-body.js';

/** The versions of the image API, newest first: 2.18 to 2.0. */
const VERSIONS = Array.from({ length: 19 }, (_, index) => `v2.${18 - index}`);
const STORE_DESCRIPTION = { id: STORE_ID, description: 'the store of this cloud', default: 'true' };

function versions({ base }: Call): unknown {
  const links = [{ rel: 'self', href: `${base}/v2/` }];
  return { versions: VERSIONS.map((id, index) => ({ id, status: index === 0 ? 'CURRENT' : 'SUPPORTED', links })) };
}

async function usage(call: Call): Promise<unknown> {
  const allImages = await call.cloud.catalogs.images.list(call.caller);
  const ownImages = allImages.filter(({ projectId }) => projectId === call.caller.projectId);
  const mebibytes = Math.ceil(ownImages.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0) / 2 ** 20);
  const createUsageEntry = (used: number) => ({ limit: -1, usage: used });
  return {
    usage: {
      image_size_total: createUsageEntry(mebibytes),
      image_stage_total: createUsageEntry(0),
      image_count_total: createUsageEntry(ownImages.length),
      image_count_uploading: createUsageEntry(0),
    },
  };
}

/** The routes for versions, schemas, stores, import methods and usage of the image service. */
export function infoRoutes(): readonly Route[] {
  return [
    openGet('/', (call) => new Reply(300, versions(call))),
    openGet('/versions', versions),
    openGet('/v2', (call) => new Reply(300, versions(call))),
    openGet('/v2/', (call) => new Reply(300, versions(call))),
    ...Object.entries(SCHEMAS).map(([name, schema]) => {
      const route = get(`/v2/schemas/${name}`, schema);
      return name.startsWith('task') ? route : withoutBody(route);
    }),
    ...[
      get('/v2/info/import', ({ cloud }) => ({
        'import-methods': { description: 'Import methods available.', type: 'array', value: importMethods(cloud) },
      })),
      get('/v2/info/stores', () => ({ stores: [STORE_DESCRIPTION] })),
      get('/v2/info/stores/detail', (call) => {
        requirePolicy(call, 'stores_info_detail');
        return { stores: [{ ...STORE_DESCRIPTION, type: 'file', weight: 0, properties: {} }] };
      }),
    ].map(withoutBody),
    get('/v2/info/usage', usage),
  ];
}
