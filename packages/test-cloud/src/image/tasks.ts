import { randomUUID } from 'node:crypto';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import type { Resource, ResourceSpec } from '../service/resource.js';
import { created, del, get, post, type Route, serialized } from '../service/route.js';
import { badRequest, ServiceError } from '../service/service-error.js';
import { formatMicros, formatSeconds } from '../service/times.js';
import { isObject, type Wire } from '../service/wire.js';
import { downloadImage, parseDownloadUrl } from './downloads.js';
import { parseImage, toCatalogChange } from './image-attributes.js';
import { validateBody } from './schema-check.js';
import { TASK, TASK_DETAIL_FIELDS } from './schemas.js';
import { withoutBody } from './without-body.js';

const TASK_LIFETIME_MS = 48 * 3_600_000;

const table = ({ cloud }: Call) => cloud.documents.table<Doc>('image/tasks');

/** Records a task that has ended. */
export function recordTask(call: Call, values: Wire): Doc {
  const now = call.cloud.clock.now();
  const task: Doc = {
    id: randomUUID(),
    message: '',
    result: null,
    owner: call.caller.projectId,
    user_id: call.caller.userId,
    request_id: call.res.getHeader('x-openstack-request-id'),
    created_at: formatSeconds(now),
    updated_at: formatSeconds(now),
    expires_at: formatSeconds(now + TASK_LIFETIME_MS),
    ...values,
  };
  table(call).set(task.id, task);
  return task;
}

/** The required fields of a task's input, by task type. */
const REQUIRED_INPUTS: Readonly<Record<string, readonly string[]>> = {
  import: ['import_from', 'import_from_format', 'image_properties'],
  api_image_import: ['image_id'],
  location_import: ['image_id', 'loc_url', 'validation_data'],
};

/** Runs an import task: creates an image from the file at a URL. */
async function runImport(call: Call, { import_from, image_properties }: Wire): Promise<Wire> {
  const given = isObject(image_properties) ? image_properties : {};
  const wire = parseImage(
    call,
    Object.keys(given).length > 0 ? given : { disk_format: 'qcow2', container_format: 'bare' },
  );
  const { images } = call.cloud.catalogs;
  const { properties, ...fields } = toCatalogChange(wire);
  const image = await images.create(call.caller, {
    id: randomUUID(),
    ...fields,
    properties: (properties ?? {}) as Readonly<Record<string, string>>,
  });
  const message = await downloadImage(call, { ...wire, id: image.id }, parseDownloadUrl(call, import_from));
  if (message === undefined) return { status: 'success', result: { image_id: image.id } };
  await images.delete(call.caller, image.id);
  return { status: 'failure', message };
}

/**
 * Runs a task that an administrator has created. Only the type `import` can succeed, because the image service itself
 * creates the tasks of other types.
 */
async function runTask(call: Call, type: string, input: Wire): Promise<Wire> {
  const failure = (message: string) => ({ status: 'failure', message });
  const missing = REQUIRED_INPUTS[type]?.find((key) => !Object.hasOwn(input, key));
  if (missing !== undefined)
    return failure(
      type === 'api_image_import' ? `Missing required '${missing}' field` : `Input does not contain '${missing}' field`,
    );
  if (type !== 'import') return failure('Task failed due to Internal Error');
  return runImport(call, input).catch((error: unknown) => {
    if (error instanceof ServiceError) return failure(error.message);
    throw error;
  });
}

function createRoute(resource: Resource): Route {
  return serialized(
    'none',
    post('/v2/tasks', async (call) => {
      resource.style.authorize(call, resource, 'create', undefined);
      const { body } = call.req;
      const missing = ['type', 'input'].find((key) => isObject(body) && !Object.hasOwn(body, key));
      if (missing !== undefined) throw badRequest(`Task '${missing}' is required`);
      const { type, input } = validateBody({ ...TASK, additionalProperties: false }, body);
      const given = isObject(input) ? input : {};
      if (type === 'import') parseDownloadUrl(call, given.import_from, 'legacy import task');
      const { image_id } = given;
      const taskResult = await runTask(call, String(type), given);
      const task = recordTask(call, { type, input, ...(image_id !== undefined && { image_id }), ...taskResult });
      const { expires_at: _, ...ended } = task;
      call.res.setHeader('Location', `${call.base}/v2/tasks/${task.id}`);
      return created(
        await resource.show(call, { ...ended, id: task.id, status: 'pending', result: null, message: '' }),
      );
    }),
  );
}

/** Returns a task in the format of Glance's database. */
function databaseView({ created_at, updated_at, expires_at, ...task }: Doc): Wire {
  const time = (value: unknown) => formatMicros(Date.parse(String(value)));
  return {
    ...task,
    created_at: time(created_at),
    updated_at: time(updated_at),
    expires_at: time(expires_at),
    deleted: false,
    deleted_at: null,
  };
}

/** Returns the task fields that list responses contain. */
function listView(wire: Wire): Wire {
  const hiddenFields = [...TASK_DETAIL_FIELDS, 'image_id', 'request_id', 'user_id'];
  return Object.fromEntries(Object.entries(wire).filter(([key]) => !hiddenFields.includes(key)));
}

/** The resource for tasks. A task completes before the response is sent, but the response shows it as pending. */
export const tasks: ResourceSpec = {
  path: 'tasks',
  one: 'task',
  many: 'tasks',
  verbs: ['list', 'show'],
  admin: ['list', 'show', 'create', 'remove'],
  fields: () => ({}),
  views: { list: listView },
  shows: (_call, { id }) => ({ self: `/v2/tasks/${id}`, schema: '/v2/schemas/task' }),
  routes: (resource) => [
    createRoute(resource),
    del('/v2/tasks/:id', (call) => {
      resource.style.authorize(call, resource, 'remove', undefined);
      call.res.setHeader('Allow', 'GET');
      throw new ServiceError(
        405,
        'This operation is currently not permitted on Glance Tasks. They are auto deleted after reaching the time based on their expires_at property.',
      );
    }),
    withoutBody(
      get('/v2/images/:id/tasks', async (call) => {
        const { id } = await call.cloud.catalogs.images.get(call.caller, call.param('id'));
        return { tasks: [...table(call).values()].filter(({ image_id }) => image_id === id).map(databaseView) };
      }),
    ),
  ],
};
