import { CatalogError } from '@apistrata/compute-engine/catalogs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest, type Client, ids } from '../api-under-test.js';

const server = { name: 'web', flavorRef: ids.tiny, imageRef: ids.image, networks: 'none' };

describe('an unavailable image service', () => {
  let api: Api;
  let ada: Client;
  let id: string;
  const requests: readonly (readonly [string, () => Promise<{ readonly status: number; readonly body: any }>])[] = [
    ['a new server', () => ada.post('/servers', { server })],
    ['rebuild', () => ada.act(id, 'rebuild', { imageRef: ids.image })],
    ['rescue', () => ada.act(id, 'rescue', { rescue_image_ref: ids.image })],
  ];

  beforeAll(async () => {
    api = await apiUnderTest();
    ada = api.as('ada:p1', '2.90');
    ({ id } = await ada.boot());
  });
  afterAll(() => api.close());

  async function withImages<T>(code: 'UNAVAILABLE' | 'IMAGE_NOT_FOUND', work: () => Promise<T>): Promise<T> {
    const { images } = api.engine.catalogs;
    const get = () => Promise.reject(new CatalogError(code, 'The image service cannot be reached.'));
    Object.assign(api.engine.catalogs, { images: { ...images, get } });
    try {
      return await work();
    } finally {
      Object.assign(api.engine.catalogs, { images });
    }
  }

  it.each(requests)('is not reported as an unknown image by %s', async (_, request) => {
    expect(await withImages('UNAVAILABLE', request)).toMatchObject({
      status: 503,
      body: { serviceUnavailable: { message: expect.stringContaining('image service') } },
    });
    expect(await withImages('IMAGE_NOT_FOUND', request)).toMatchObject({
      status: 400,
      body: { badRequest: { message: `Image ${ids.image} could not be found.` } },
    });
  });
});
