import type { EmbeddedCatalogs, VolumeView } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { badRequest } from '../service/service-error.js';

type Volumes = EmbeddedCatalogs['volumes'];

export const catalog = (call: Call): Volumes => call.cloud.catalogs.volumes;

export const change = (call: Call, id: string, fields: Parameters<Volumes['updateVolume']>[2]): Promise<VolumeView> =>
  catalog(call).updateVolume(call.caller, id, fields);

export const ok = { status: 200 } as const;
export const object = z.strictObject;

export const invalidVolume = (message: string) => badRequest(`Invalid volume: ${message}`);

/** Throws a 400 error unless the volume is available. */
export function requireAvailable({ id, status }: VolumeView, purpose = ''): void {
  if (status !== 'available') throw invalidVolume(`Volume ${id} status must be available${purpose}`);
}
