import { CatalogError, catalogErrorKinds } from '@apistrata/compute-engine/catalogs';
import { expect, it } from 'vitest';
import { ERROR_STATUSES, fromCatalogError, networkFault } from '../../src/network/network-errors.js';
import { ServiceError } from '../../src/service/service-error.js';
import { type ApiResponse, clientOf, cloudUnderTest } from '../clouds.js';
import { readFacts } from './operation-facts.js';
import type { ResourceFact } from './resource-facts.js';

const { errors, resources } = readFacts('network') as {
  readonly errors: Readonly<Record<string, number>>;
  readonly resources: Readonly<Record<string, ResourceFact>>;
};

it('has the error types of the original, with their statuses', () => {
  expect(ERROR_STATUSES).toEqual(errors);
});

it.each(Object.keys(catalogErrorKinds) as (keyof typeof catalogErrorKinds)[])(
  'maps the catalog error %s to an error type of the original',
  (code) => {
    const shown = fromCatalogError(new CatalogError(code, 'message'));
    expect(networkFault(shown)).toMatchObject({ NeutronError: { type: shown.type } });
    expect(errors[shown.type]).toBe(shown.status);
  },
);

it.each([400, 401, 403, 404, 409, 413, 500, 501, 503])(
  'maps an unknown error type to the general type for %i',
  (status) => {
    const { NeutronError } = networkFault(new ServiceError(status, 'message', 'Unheard')) as {
      readonly NeutronError: { readonly type: string };
    };
    expect(errors[NeutronError.type]).toBe(status);
  },
);

const BODIES = [undefined, {}, [], { x: 1 }] as const;

/** Sends failing requests to each collection, and returns the responses. */
async function failures(request: ReturnType<typeof clientOf>): Promise<readonly ApiResponse[]> {
  const responses: ApiResponse[] = [];
  for (const [name, fact] of Object.entries(resources)) {
    const path = `/network${fact.path.replaceAll(/\{\w+\}/g, 'missing')}`;
    for (const method of ['GET', 'PUT', 'DELETE'])
      responses.push(await request(method, `${path}/missing`, method === 'PUT' ? { [name]: {} } : undefined));
    for (const body of BODIES) responses.push(await request('POST', path, body && { [name]: body }));
    responses.push(await request('GET', `${path}?limit=x`), await request('GET', `${path}?sort_key=x&sort_dir=asc`));
  }
  return responses;
}

it.each(['administrator', 'member'])('returns only error types of the original to a %s', async (role) => {
  const cloud = await cloudUnderTest();
  const request = clientOf(cloud, role === 'member' ? cloud.token('demo', 'demo') : undefined);
  const failed = (await failures(request)).filter(({ status }) => status >= 400);
  expect(failed.length).toBeGreaterThan(100);
  for (const { status, body } of failed)
    expect([body.NeutronError.type, errors[body.NeutronError.type]]).toEqual([body.NeutronError.type, status]);
});
