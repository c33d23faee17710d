import { randomUUID } from 'node:crypto';
import type { Caller, Settings } from '@apistrata/compute-engine';
import { type Api, type ApiOptions, apiUnderTest } from '../api-under-test.js';

/** The member `ada:p1`, as other services see her. */
export const ada: Caller = { userId: 'ada', projectId: 'p1', roles: ['member', 'reader'] };

/** Starts an API whose projects may have any number of servers. */
export function largeCapacityApi(options: ApiOptions = {}, quotas: Partial<Settings['quotas']> = {}): Promise<Api> {
  const unlimited = { instances: -1, cores: -1, ram: -1, ...quotas } as Settings['quotas'];
  const settings = { ...options.engine?.settings, quotas: unlimited };
  return apiUnderTest({ ...options, engine: { ...options.engine, settings } });
}

/** Creates a volume of ada's project. */
export async function newVolume(
  { engine }: Api,
  fields: { readonly sizeGb?: number; readonly volumeType?: string; readonly availabilityZone?: string } = {},
): Promise<string> {
  const created = await engine.embedded.volumes.createVolume(ada, { key: randomUUID(), sizeGb: 1, ...fields });
  return created.id;
}

/** Returns a volume as the volume service shows it. */
export function volumeOf({ engine }: Api, id: string) {
  return engine.embedded.volumes.getVolume(ada, id);
}

/** Returns the newest action in a server's history. */
export async function newestAction(api: Api, serverId: string) {
  const [newest] = await api.engine.instanceActions.list(serverId);
  return newest!;
}
