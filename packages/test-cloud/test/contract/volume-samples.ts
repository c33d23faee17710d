// Valid requests that create resources of the volume service.
import { type ApiResponse, IMAGE } from '../clouds.js';

export type SendRequest = (method: string, path: string, body?: unknown) => Promise<ApiResponse>;

/** A resource's path, and the bodies of its create and change requests. */
export interface Sample {
  readonly path: string;
  readonly body: (request: SendRequest) => Promise<object> | object;
  readonly change?: object;
  /** Whether only administrators can create the resource. */
  readonly admin?: true;
}

let count = 0;
/** Creates a resource and returns its id. */
export const idOf = async (request: SendRequest, path: string, one: string) => {
  const { body } = SAMPLES[one]!;
  return (await request('POST', path, { [one]: await body(request) })).body[one].id as string;
};

export const SAMPLES: Readonly<Record<string, Sample>> = {
  volume: { path: 'volumes', body: () => ({ size: 1, imageRef: IMAGE }), change: { name: 'renamed' } },
  snapshot: {
    path: 'snapshots',
    body: async (request) => ({ volume_id: await idOf(request, 'volumes', 'volume') }),
    change: { name: 'renamed' },
  },
  volume_type: { path: 'types', body: () => ({ name: `t${++count}` }), change: { description: 'd' }, admin: true },
  group_type: {
    path: 'group_types',
    body: () => ({ name: `g${++count}` }),
    change: { description: 'd' },
    admin: true,
  },
  group: {
    path: 'groups',
    body: async (request) => ({
      name: 'g',
      group_type: await idOf(request, 'group_types', 'group_type'),
      volume_types: [(await request('GET', 'types/default')).body.volume_type.id],
    }),
    change: { name: 'renamed' },
    admin: true,
  },
  group_snapshot: {
    path: 'group_snapshots',
    async body(request) {
      const group_id = await idOf(request, 'groups', 'group');
      const { body } = await request('POST', 'volumes', { volume: { size: 1 } });
      await request('PUT', `groups/${group_id}`, { group: { add_volumes: body.volume.id } });
      return { group_id, name: 's' };
    },
    admin: true,
  },
  backup: {
    path: 'backups',
    body: async (request) => ({ volume_id: await idOf(request, 'volumes', 'volume'), name: 'b' }),
    change: { name: 'renamed' },
  },
  transfer: {
    path: 'volume-transfers',
    body: async (request) => ({ volume_id: await idOf(request, 'volumes', 'volume') }),
  },
};
