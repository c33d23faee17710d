import { expect } from 'vitest';
import type { Api } from '../api-under-test.js';
import { newVolume, ada as owner, roomyApi } from '../servers-parts/roomy-api.js';

/** An API with room, and with a volume type for several servers. */
export async function volumeApi(): Promise<Api> {
  const api = await roomyApi();
  await api.engine.embedded.volumes.createType(
    { ...owner, roles: ['admin'], isAdmin: true },
    { name: 'multi', extraSpecs: { multiattach: '<is> True' } },
  );
  return api;
}

/** A server with a volume that was attached to it with these fields. */
export async function bootWithVolume(api: Api, version = '2.100', fields: Record<string, unknown> = {}) {
  const ada = api.as('ada:p1', version);
  const { id } = await ada.boot();
  const path = `/servers/${id}/os-volume_attachments`;
  const volumeId = await newVolume(api);
  const attached = await ada.post(path, { volumeAttachment: { volumeId, ...fields } });
  expect(attached.status).toBe(200);
  await api.idle();
  return { ada, id, path, volumeId, attached };
}
