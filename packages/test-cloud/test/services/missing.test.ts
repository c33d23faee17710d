import { Refusal } from '@apistrata/compute-engine';
import { CatalogError } from '@apistrata/compute-engine/catalogs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ifMissing } from '../../src/service/if-missing.js';
import { clientOf, cloudUnderTest } from '../clouds.js';

it.each([
  new Refusal('NOT_FOUND', 'Instance x could not be found.'),
  new CatalogError('PORT_NOT_FOUND', 'Port x could not be found.'),
])('what is missing is nothing, not an error: %s', async (error) => {
  expect(await Promise.reject(error).catch(ifMissing)).toBeUndefined();
});

it.each([
  new Refusal('FORBIDDEN', 'not yours'),
  new CatalogError('UNAVAILABLE', 'the service is away'),
  new TypeError('a defect'),
])('what went wrong stays an error: %s', async (error) => {
  await expect(Promise.reject(error).catch(ifMissing)).rejects.toBe(error);
});

it('allocations of a server that could not be read are not told to be none', async () => {
  const errors: unknown[] = [];
  const cloud = await cloudUnderTest({ onError: (error) => errors.push(error) });
  const ask = clientOf(cloud);
  const path = '/placement/allocations/9e6c1b1a-6f0c-4a6b-8a39-0c8d7f3c2b11';
  expect(await ask('GET', path)).toMatchObject({ status: 200, body: { allocations: {} } });
  const trouble = new Error('the database is away');
  const reading = vi.spyOn(cloud.engine.servers, 'get').mockRejectedValue(trouble);
  onTestFinished(() => reading.mockRestore());
  expect((await ask('GET', path)).status).toBe(500);
  expect(errors).toEqual([trouble]);
});
