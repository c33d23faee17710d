import { clientOf, cloudUnderTest } from '../clouds.js';

/** Returns the address of a path in the volume API. */
export const at = (path: string) => `/volume/v3/${path}`;
export const highest = { 'OpenStack-API-Version': 'volume 3.71' };

/** Starts a cloud and returns functions that send requests to its volume API. */
export async function volumes() {
  const cloud = await cloudUnderTest();
  const raw = clientOf(cloud);
  const request = (method: string, path: string, body?: unknown) => raw(method, at(path), body, highest);
  const volume = async (fields: object = {}) =>
    (await request('POST', 'volumes', { volume: { size: 1, ...fields } })).body.volume;
  return { cloud, request, raw, volume };
}
