import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { get } from '../service/route.js';
import { badRequest } from '../service/service-error.js';
import { seconds } from '../service/times.js';
import type { Wire } from '../service/wire.js';
import { dictionary } from '../service/wire-types.js';
import { checkedUri, downloadInto } from './downloads.js';

const LIFETIME_MS = 48 * 3_600_000;

function taskOf(call: Call, values: Wire): Doc {
  const now = call.cloud.clock.now();
  return {
    id: randomUUID(),
    message: '',
    result: null,
    owner: call.caller.projectId,
    user_id: call.caller.userId,
    request_id: call.res.getHeader('x-openstack-request-id'),
    created_at: seconds(now),
    updated_at: seconds(now),
    expires_at: seconds(now + LIFETIME_MS),
    ...values,
  };
}

/** Records a task of an image. */
export function newTask(call: Call, values: Wire): void {
  const task = taskOf(call, values);
  call.cloud.documents.table<Doc>('image/tasks').set(task.id, task);
}

const Input = z.object({
  import_from: z.string(),
  import_from_format: z.string(),
  image_properties: z.object({
    name: z.string().nullish(),
    disk_format: z.string().optional(),
    container_format: z.string().optional(),
    visibility: z.enum(['public', 'private', 'shared', 'community']).optional(),
    protected: z.boolean().optional(),
  }),
});

/** Returns the input of an import. Throws a 400 error that names the missing field. */
function inputOf(values: unknown): z.infer<typeof Input> {
  const checked = Input.safeParse(values);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw badRequest(`Input to task is not valid: '${issue?.path.join('.')}' ${issue?.message}`);
}

/** Runs an import: creates an image with the content at a URL. */
async function runImport(call: Call, { import_from, image_properties }: z.infer<typeof Input>): Promise<Wire> {
  const url = checkedUri(call, import_from);
  const { name, disk_format, container_format, ...rest } = image_properties;
  const { images } = call.cloud.catalogs;
  const image = await images.create(call.caller, {
    id: randomUUID(),
    name: name ?? null,
    diskFormat: disk_format,
    containerFormat: container_format,
    ...rest,
  });
  const message = await downloadInto(call, { id: image.id, disk_format }, url);
  if (message === undefined) return { status: 'success', result: { image_id: image.id } };
  await images.delete(call.caller, image.id);
  return { status: 'failure', message };
}

/** Tasks of administrators. They complete before the response is sent, although the response shows them as pending. */
export const tasks: ResourceSpec = {
  path: 'tasks',
  one: 'task',
  many: 'tasks',
  verbs: ['list', 'show', 'create'],
  admin: ['list', 'show', 'create'],
  fields: () => ({
    id: derived(),
    type: required(fixed(z.enum(['import', 'export', 'clone']))),
    input: required(fixed(dictionary)),
    status: derived('pending'),
    message: derived(''),
    result: derived(null),
  }),
  views: { create: (wire) => ({ ...wire, status: 'pending', result: null, message: '' }) },
  creating: async (call, values) => {
    const outcome =
      values.type === 'import'
        ? await runImport(call, inputOf(values.input))
        : { status: 'failure', message: `Tasks of type ${values.type} are not supported.` };
    return taskOf(call, { ...values, ...outcome });
  },
  shows: (_call, { id }) => ({ self: `/v2/tasks/${id}`, schema: '/v2/schemas/task' }),
  routes: (resource) => [
    get('/v2/images/:id/tasks', async (call) => {
      const { id } = await call.cloud.catalogs.images.get(call.caller, call.param('id'));
      const all = [...call.cloud.documents.table<Doc>('image/tasks').values()];
      const imageTasks = all.filter(({ image_id }) => image_id === id);
      return { tasks: await Promise.all(imageTasks.map((task) => resource.show(call, task))) };
    }),
  ],
};
