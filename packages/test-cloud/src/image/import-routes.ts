import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { CloudContext } from '../service/cloud-context.js';
import type { Doc } from '../service/documents.js';
import type { Resource } from '../service/resource.js';
import { accepted, post, type Route } from '../service/route.js';
import { badRequest, conflict } from '../service/service-error.js';
import { checkedUri, downloadInto } from './downloads.js';
import { STORE_ID } from './image-view.js';
import { unstage } from './staging.js';
import { storeContent } from './store-content.js';
import { newTask } from './tasks.js';

/** A method of importing the content of an image. */
interface Method {
  /** Throws if the image or the request is unsuitable. */
  readonly check: (call: Call, image: Doc, requested: ImportBody) => void;
  /** Stores the content. Returns the reason for a failure; undefined on success. */
  readonly run: (call: Call, image: Doc, requested: ImportBody) => Promise<string | undefined>;
}

const ImportBody = z.object({
  method: z.object({ name: z.string(), uri: z.unknown().optional() }),
  stores: z.array(z.string()).optional(),
  all_stores: z.boolean("'all_stores' must be boolean value only").default(false),
  all_stores_must_succeed: z.boolean("'all_stores_must_succeed' must be boolean value only").default(true),
});
type ImportBody = z.infer<typeof ImportBody>;

const METHODS: Readonly<Record<string, Method>> = {
  'glance-direct': {
    check(_call, { status }) {
      if (status !== 'uploading') throw conflict("Image needs to be staged before 'glance-direct' method can be used");
    },
    async run(call, image) {
      await storeContent(call, image, unstage(call, image.id) ?? new Uint8Array());
      return undefined;
    },
  },
  'web-download': {
    check(call, { status }, { method }) {
      if (status !== 'queued') throw conflict("Image needs to be in 'queued' state to use 'web-download' method");
      checkedUri(call, method.uri);
    },
    run: (call, image, { method }) => downloadInto(call, image, checkedUri(call, method.uri)),
  },
  'copy-image': {
    check(_call, _image, requested) {
      if (!requested.all_stores) throw badRequest(`Image is already present at store '${STORE_ID}'`);
    },
    run: async () => undefined,
  },
};

/** Returns the names of the import methods that a cloud supports. */
export function importMethods({ documents, downloads }: CloudContext): readonly string[] {
  return Object.keys(METHODS).filter(
    (name) =>
      (name !== 'glance-direct' || !documents.areDurable) && (name !== 'web-download' || downloads !== undefined),
  );
}

function checkImage({ status, disk_format, container_format }: Doc, name: string): void {
  if (status === 'active' && name !== 'copy-image')
    throw conflict('Image with status active cannot be target for import');
  if (status !== 'active' && name === 'copy-image')
    throw conflict('Only images with status active can be targeted for copying');
  if (!container_format) throw conflict("'container_format' needs to be set before import");
  if (!disk_format) throw conflict("'disk_format' needs to be set before import");
}

/** Records in the image that an import has ended, and the stores for which it has failed. */
async function recordStores({ cloud, caller }: Call, { id }: Doc, failure: string | undefined): Promise<void> {
  await cloud.catalogs.images.update(caller, id, {
    properties: {
      os_glance_importing_to_stores: '',
      os_glance_failed_import: failure === undefined ? '' : STORE_ID,
    },
  });
}

/** Image imports. They complete before the response is sent. */
export function importRoutes(resource: Resource): readonly Route[] {
  return [
    post('/v2/images/:id/import', async (call) => {
      const requested = call.body(ImportBody);
      const { name } = requested.method;
      const method = importMethods(call.cloud).includes(name) ? METHODS[name] : undefined;
      if (!method) throw badRequest(`Unknown import method name '${name}'.`);
      const image = await resource.find(call, call.param('id'), 'change');
      checkImage(image, name);
      const unknown = requested.stores?.find((store) => store !== STORE_ID);
      if (unknown !== undefined) throw conflict(`Unknown scheme '${unknown}' found in URI`);
      method.check(call, image, requested);
      // The only store already has the content of every active image. In this case, the original does not create a task.
      if (name === 'copy-image') return accepted();
      const failure = await method.run(call, image, requested);
      await recordStores(call, image, failure);
      newTask(call, {
        type: 'api_image_import',
        status: failure === undefined ? 'success' : 'failure',
        image_id: image.id,
        input: { image_id: image.id, import_req: call.req.body },
        message: failure ?? '',
        result: failure === undefined ? { image_id: image.id } : null,
      });
      return accepted();
    }),
  ];
}
