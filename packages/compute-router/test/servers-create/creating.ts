import { expect } from 'vitest';
import type { Api, Client } from '../api-under-test.js';
import { cloud, plain } from './cloud.js';

/** The caller of {@link Creating.ada}. */
export const caller = { userId: 'ada', projectId: 'p1', roles: ['member'] };
const quotas = { instances: -1, cores: -1, ram: -1 } as never;

/** A cloud without quotas, for tests that create servers. */
export interface Creating {
  readonly api: Api;
  readonly ada: Client;
  readonly admin: Client;
  /** Requests a server with the required fields and these additional ones. */
  readonly post: (client: Client, fields: object, hints?: object) => ReturnType<Client['post']>;
  /** Creates a server with these fields; returns it as administrators see it once it is ACTIVE. */
  readonly createdServer: (fields: object, options?: { client?: Client; hints?: object }) => Promise<any>;
  readonly volumeOf: (id: string) => ReturnType<Api['engine']['catalogs']['volumes']['getVolume']>;
  /** Closes the cloud and checks that no error occurred. */
  readonly close: () => Promise<void>;
}

export async function creating(): Promise<Creating> {
  const api = await cloud({ engine: { settings: { quotas } }, router: { maxVersion: '2.104' } });
  const [ada, admin] = [api.as('ada:p1', '2.100'), api.as('admin:p1', '2.100')];
  const post: Creating['post'] = (client, fields, hints) =>
    client.post('/servers', { server: { ...plain, ...fields }, ...(hints && { 'os:scheduler_hints': hints }) });
  return {
    api,
    ada,
    admin,
    post,
    createdServer: async (fields, options = {}) => {
      const created = await post(options.client ?? ada, fields, options.hints);
      if (created.status !== 202) throw new Error(JSON.stringify(created.body));
      await api.idle();
      return (await admin.get(`/servers/${created.body.server.id}`)).body.server;
    },
    volumeOf: (id) => api.engine.catalogs.volumes.getVolume(caller, id),
    close: async () => {
      expect(api.errors).toEqual([]);
      await api.close();
    },
  };
}
