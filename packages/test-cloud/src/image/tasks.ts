import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required } from '../service/field.js';
import type { Wire } from '../service/listing.js';
import type { ResourceSpec } from '../service/resource.js';
import { get } from '../service/route.js';
import { seconds } from '../service/times.js';
import { dictionary } from '../service/wire-types.js';

const LIFE_MS = 48 * 3_600_000;

/** Notes work on an image. */
export function newTask(call: Call, given: Wire): Doc {
  const now = call.cloud.clock.now();
  const task = {
    id: randomUUID(),
    message: '',
    result: null,
    owner: call.caller.projectId,
    user_id: call.caller.userId,
    request_id: call.res.getHeader('x-openstack-request-id'),
    created_at: seconds(now),
    updated_at: seconds(now),
    expires_at: seconds(now + LIFE_MS),
    ...given,
  };
  call.cloud.documents.table<Doc>('image/tasks').set(task.id, task);
  return task;
}

/** Work on images that administrators ask for. This cloud downloads nothing, so what would have to fails. */
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
    status: derived('failure'),
    message: derived('This cloud does not download images.'),
    result: derived(null),
  }),
  creating: (call, given) => {
    const { id, ...rest } = newTask(call, given);
    call.cloud.documents.table('image/tasks').delete(id);
    return { ...rest, id };
  },
  shows: (_call, { id }) => ({ self: `/v2/tasks/${id}`, schema: '/v2/schemas/task' }),
  routes: (resource) => [
    get('/v2/images/:id/tasks', async (call) => {
      const { id } = await call.cloud.catalogs.images.get(call.caller, call.param('id'));
      const all = [...call.cloud.documents.table<Doc>('image/tasks').values()];
      const mine = all.filter(({ image_id }) => image_id === id);
      return { tasks: await Promise.all(mine.map((task) => resource.show(call, task))) };
    }),
  ],
};
