import { Rejection } from '@apistrata/compute-engine';
import { CatalogError } from '@apistrata/compute-engine/catalogs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ifMissing } from '../../src/service/if-missing.js';
import { clientOf, cloudUnderTest, NETWORK } from '../clouds.js';

it.each([
  new Rejection('NOT_FOUND', 'Instance x could not be found.'),
  new CatalogError('PORT_NOT_FOUND', 'Port x could not be found.'),
])('a missing resource is undefined, not an error: %s', async (error) => {
  expect(await Promise.reject(error).catch(ifMissing)).toBeUndefined();
});

it.each([
  new Rejection('FORBIDDEN', 'not yours'),
  new CatalogError('UNAVAILABLE', 'the service is away'),
  new TypeError('a defect'),
])('a failure is still an error: %s', async (error) => {
  await expect(Promise.reject(error).catch(ifMissing)).rejects.toBe(error);
});

it('unreadable allocations of a server are not reported as missing', async () => {
  const errors: unknown[] = [];
  const cloud = await cloudUnderTest({ onError: (error) => errors.push(error) });
  const request = clientOf(cloud);
  const path = '/placement/allocations/9e6c1b1a-6f0c-4a6b-8a39-0c8d7f3c2b11';
  const before = await request('GET', path);
  expect(before.status).toBe(200);
  expect(before.body.allocations).toEqual({});
  const failure = new Error('the database is away');
  const reading = vi.spyOn(cloud.engine.servers, 'get').mockRejectedValue(failure);
  onTestFinished(() => reading.mockRestore());
  expect((await request('GET', path)).status).toBe(500);
  expect(errors).toEqual([failure]);
});

it('a trunk is deleted if its port is missing, and kept if the port cannot be read', async () => {
  const cloud = await cloudUnderTest({ onError: () => {} });
  const request = clientOf(cloud);
  const { port } = (await request('POST', '/network/v2.0/ports', { port: { network_id: NETWORK } })).body;
  const { trunk } = (await request('POST', '/network/v2.0/trunks', { trunk: { port_id: port.id } })).body;
  const reading = vi.spyOn(cloud.engine.catalogs.networks, 'getPort');
  onTestFinished(() => reading.mockRestore());
  reading.mockRejectedValue(new Error('the database is away'));
  expect((await request('DELETE', `/network/v2.0/trunks/${trunk.id}`)).status).toBe(500);
  reading.mockRejectedValue(new CatalogError('PORT_NOT_FOUND', 'Port x could not be found.'));
  expect((await request('DELETE', `/network/v2.0/trunks/${trunk.id}`)).status).toBe(204);
});

it('a volume with a deleted type has none, and an unreadable type is not reported as missing', async () => {
  const cloud = await cloudUnderTest({ onError: () => {} });
  const request = clientOf(cloud);
  const created = await request('POST', '/volume/v3/volumes', { volume: { size: 1, volume_type: '__DEFAULT__' } });
  const show = () =>
    request('GET', `/volume/v3/volumes/${created.body.volume.id}`, undefined, {
      'OpenStack-API-Version': 'volume 3.63',
    });
  expect((await show()).body.volume.volume_type_id).toMatch(/^[0-9a-f-]{36}$/);
  const reading = vi.spyOn(cloud.engine.catalogs.volumes, 'getType');
  onTestFinished(() => reading.mockRestore());
  reading.mockRejectedValue(new CatalogError('VOLUME_TYPE_NOT_FOUND', 'Volume type x could not be found.'));
  expect(await show()).toMatchObject({ status: 200, body: { volume: { volume_type_id: null } } });
  reading.mockRejectedValue(new Error('the database is away'));
  expect((await show()).status).toBe(500);
});
