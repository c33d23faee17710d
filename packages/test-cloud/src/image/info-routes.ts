import type { Call } from '../service/call.js';
import { del, get, noContent, openGet, Reply, type Route } from '../service/route.js';
import { STORE_ID } from './image-view.js';
import { importMethods } from './import-routes.js';
import { SCHEMAS } from './schemas.js';

const VERSIONS = [
  'v2.17',
  'v2.16',
  'v2.15',
  'v2.13',
  'v2.12',
  'v2.11',
  'v2.10',
  'v2.9',
  'v2.8',
  'v2.7',
  'v2.6',
  'v2.5',
  'v2.4',
  'v2.3',
  'v2.2',
  'v2.1',
  'v2.0',
];
const STORE = { id: STORE_ID, description: 'the store of this cloud', default: 'true' };
function versions({ base }: Call): unknown {
  const links = [{ rel: 'self', href: `${base}/v2/` }];
  return { versions: VERSIONS.map((id, index) => ({ id, status: index === 0 ? 'CURRENT' : 'SUPPORTED', links })) };
}

async function usage(call: Call): Promise<unknown> {
  const all = await call.cloud.catalogs.images.list(call.caller);
  const ownImages = all.filter(({ projectId }) => projectId === call.caller.projectId);
  const mebibytes = Math.ceil(ownImages.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0) / 2 ** 20);
  const line = (used: number) => ({ limit: -1, usage: used });
  return {
    usage: {
      image_size_total: line(mebibytes),
      image_stage_total: line(0),
      image_count_total: line(ownImages.length),
      image_count_uploading: line(0),
    },
  };
}

/** Versions, schemas, stores, and import methods of the service. */
export function infoRoutes(): readonly Route[] {
  return [
    openGet('/', (call) => new Reply(300, versions(call))),
    openGet('/versions', versions),
    openGet('/v2', (call) => new Reply(300, versions(call))),
    openGet('/v2/', (call) => new Reply(300, versions(call))),
    ...Object.entries(SCHEMAS).map(([name, schema]) => get(`/v2/schemas/${name}`, () => schema())),
    get('/v2/info/import', ({ cloud }) => ({
      'import-methods': { description: 'Import methods available.', type: 'array', value: importMethods(cloud) },
    })),
    get('/v2/info/stores', () => ({ stores: [STORE] })),
    get('/v2/info/stores/detail', (call) => {
      call.requireAdmin();
      return { stores: [{ ...STORE, type: 'memory', weight: 0, properties: {} }] };
    }),
    get('/v2/info/usage', usage),
    get('/v2/cache', (call) => {
      call.requireAdmin();
      return { cached_images: [], queued_images: [] };
    }),
    del('/v2/cache', (call) => {
      call.requireAdmin();
      return noContent();
    }),
  ];
}
