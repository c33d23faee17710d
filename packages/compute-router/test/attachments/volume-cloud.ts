import { expect } from 'vitest';
import type { Api } from '../api-under-test.js';
import { largeCapacityApi, newVolume, ada as owner } from '../servers-parts/large-capacity-api.js';

/** Starts an API without quotas, with a multiattach volume type. */
export async function volumeApi(): Promise<Api> {
  const api = await largeCapacityApi();
  await api.engine.embedded.volumes.createType(
    { ...owner, roles: ['admin'], isAdmin: true },
    { name: 'multi', extraSpecs: { multiattach: '<is> True' } },
  );
  return api;
}

/** Creates a server, and attaches a volume to it in a request with these fields. */
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
