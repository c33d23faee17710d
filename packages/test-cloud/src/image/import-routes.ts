import type { Call } from '../service/call.js';
import type { CloudContext } from '../service/cloud-context.js';
import type { Doc } from '../service/documents.js';
import type { Resource } from '../service/resource.js';
import { accepted, post, type Route, serialized } from '../service/route.js';
import { badRequest, conflict } from '../service/service-error.js';
import { isObject } from '../service/wire.js';
import { downloadImage, parseDownloadUrl } from './downloads.js';
import { STORE_ID } from './image-view.js';
import { requirePolicy } from './policies.js';
import { requireObject } from './schema-check.js';
import { takeStaged } from './staging.js';
import { storeContent } from './store-content.js';
import { recordTask } from './tasks.js';

/** The parsed body of an import request. */
interface ImportRequest {
  readonly name: string;
  readonly uri: unknown;
  readonly stores: readonly unknown[];
  readonly allStores: boolean;
}

/** An import method for image data. */
interface ImportMethod {
  /** The status that the image must have before the import. */
  readonly status: string;
  /** The error message if the image has another status. */
  readonly wrongStatus: string;
  /** Throws a service-specific error if this method cannot handle the request. */
  readonly check?: (call: Call, importRequest: ImportRequest) => void;
  /** Stores the image data. Returns the reason for a failure; undefined on success. */
  readonly run: (call: Call, image: Doc, importRequest: ImportRequest) => Promise<string | undefined>;
}

const IMPORT_METHODS: Readonly<Record<string, ImportMethod>> = {
  'glance-direct': {
    status: 'uploading',
    wrongStatus: "Image needs to be staged before 'glance-direct' method can be used",
    async run(call, image) {
      await storeContent(call, image, takeStaged(call, image.id) ?? new Uint8Array());
      return undefined;
    },
  },
  'web-download': {
    status: 'queued',
    wrongStatus: "Image needs to be in 'queued' state to use 'web-download' method",
    check: (call, { uri }) => void parseDownloadUrl(call, uri),
    run: (call, image, { uri }) => downloadImage(call, image, parseDownloadUrl(call, uri)),
  },
  'copy-image': {
    status: 'active',
    wrongStatus: 'Only images with status active can be targeted for copying',
    check(_call, { allStores }) {
      if (!allStores) throw badRequest(`Image is already present at store '${STORE_ID}'`);
    },
    run: async () => undefined,
  },
};

/** Returns the names of the import methods that the cloud supports. */
export function importMethods({ documents, downloads }: CloudContext): readonly string[] {
  return Object.keys(IMPORT_METHODS).filter(
    (name) =>
      (name !== 'glance-direct' || !documents.areDurable) && (name !== 'web-download' || downloads !== undefined),
  );
}

/** Parses the body of an import request. Validates everything that does not depend on the image. */
function parseImportRequest(call: Call): ImportRequest {
  const body = requireObject(call.req.body);
  if (!Object.hasOwn(body, 'method')) throw badRequest("Import request requires a 'method' field.");
  const { method, stores, all_stores: allStores = false, all_stores_must_succeed: mustSucceed = true } = body;
  if (!isObject(method) || !Object.hasOwn(method, 'name')) throw badRequest("Import request requires a 'name' field.");
  const { name, uri } = method;
  if (typeof name !== 'string' || !importMethods(call.cloud).includes(name))
    throw badRequest(`Unknown import method name '${name}'.`);
  if (typeof mustSucceed !== 'boolean') throw badRequest("'all_stores_must_succeed' must be boolean value only");
  if (typeof allStores !== 'boolean') throw badRequest("'all_stores' must be boolean value only");
  const header = call.req.header('x-image-meta-store');
  if (stores !== undefined && !Array.isArray(stores)) throw badRequest("'stores' must be a list");
  if (allStores && (stores !== undefined || header !== undefined))
    throw badRequest("All_stores parameter can't be used with x-image-meta-store header or stores parameter");
  if (stores !== undefined && header !== undefined)
    throw badRequest("Stores parameter and x-image-meta-store header can't be both specified");
  return { name, uri, allStores, stores: (stores as readonly unknown[] | undefined) ?? [header ?? STORE_ID] };
}

function checkImage({ status, disk_format, container_format }: Doc, name: string, method: ImportMethod): void {
  if (status === 'active' && name !== 'copy-image')
    throw conflict('Image with status active cannot be target for import');
  if (status !== method.status) throw conflict(method.wrongStatus);
  if (!container_format) throw conflict("'container_format' needs to be set before import");
  if (!disk_format) throw conflict("'disk_format' needs to be set before import");
}

/** Sets the image properties that report the end of an import and the stores for which the import has failed. */
async function recordImportResult({ cloud, caller }: Call, { id }: Doc, failure: string | undefined): Promise<void> {
  await cloud.catalogs.images.update(caller, id, {
    properties: {
      os_glance_importing_to_stores: '',
      os_glance_failed_import: failure === undefined ? '' : STORE_ID,
    },
  });
}

/** The route for image imports, which complete before the response is sent. */
export function importRoutes(resource: Resource): readonly Route[] {
  return [
    serialized(
      'none',
      post('/v2/images/:id/import', async (call) => {
        const importRequest = parseImportRequest(call);
        const { name, stores } = importRequest;
        const method = IMPORT_METHODS[name];
        if (!method) throw badRequest(`Unknown import method name '${name}'.`);
        const image = await resource.find(call, call.param('id'));
        checkImage(image, name, method);
        if (name !== 'copy-image') resource.style.authorize(call, resource, 'change', image);
        else requirePolicy(call, 'copy_image');
        const unknownStore = stores.find((store) => store !== STORE_ID);
        if (unknownStore !== undefined) throw conflict(`Unknown scheme '${unknownStore}' found in URI`);
        method.check?.(call, importRequest);
        // The only store already has the data of each active image. If there is nothing to copy, Glance creates no
        // task.
        if (name === 'copy-image') return accepted();
        const failure = await method.run(call, image, importRequest);
        await recordImportResult(call, image, failure);
        recordTask(call, {
          type: 'api_image_import',
          status: failure === undefined ? 'success' : 'failure',
          image_id: image.id,
          input: { image_id: image.id, import_req: call.req.body, backend: stores },
          message: failure ?? '',
          result: failure === undefined ? { image_id: image.id } : null,
        });
        return accepted();
      }),
    ),
  ];
}
