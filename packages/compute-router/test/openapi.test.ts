import { nameOf, openApi, openApiDocuments, operationKey } from '@apistrata/microversion-router';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { computeApiDescription, newestSupported, operations } from '../src/index.js';

const versions = Array.from({ length: Number(newestSupported().minor) }, (_, index) => `2.${index + 1}`);
const documents = openApiDocuments(operations, computeApiDescription);
const validator = new Validator();

describe('the OpenAPI document', () => {
  it.each(versions)('of %s passes an independent validator', async (version) => {
    const { valid, errors } = await validator.validate(
      structuredClone(documents.at(version, '/v2.1')) as Record<string, unknown>,
    );
    expect([valid, errors]).toEqual([true, undefined]);
  });

  it.each(['2.1', '2.53', '2.100'])('of %s is valid with each action as a separate path', async (version) => {
    const separate = openApi(operations, { ...computeApiDescription, version, actions: 'separate' });
    expect(await validator.validate(structuredClone(separate) as Record<string, unknown>)).toMatchObject({
      valid: true,
    });
    expect(Object.keys(separate.paths as Record<string, unknown>)).toContain('/servers/{id}/action#resize');
  });

  it('has a unique name for each operation', () => {
    const keys = new Map<string, Set<string>>();
    for (const operation of operations) {
      const name = nameOf(operation);
      keys.set(name, (keys.get(name) ?? new Set()).add(operationKey(operation)));
    }
    expect([...keys].filter(([, operations]) => operations.size > 1)).toEqual([]);
    expect([...keys.keys()].filter((name) => !/^[a-z][A-Za-z0-9]+$/.test(name))).toEqual([]);
  });

  it('is the same as an object and as text, for any server URL', () => {
    expect(JSON.parse(documents.text('2.53', 'http://127.0.0.1/v2.1'))).toEqual(
      documents.at('2.53', 'http://127.0.0.1/v2.1'),
    );
  });

  it('is created once per version', () => {
    expect(documents.at('2.53')).toBe(documents.at('2.53'));
  });

  it('describes authentication, version headers and faults', () => {
    const document = documents.at('2.53') as any;
    expect(document.components.securitySchemes.token.name).toBe('X-Auth-Token');
    const show = document.paths['/servers/{id}'].get;
    expect(show).toMatchObject({ operationId: 'showServer', tags: ['servers'] });
    expect(show.parameters).toContainEqual({ $ref: '#/components/parameters/OpenStack-API-Version' });
    expect(show.responses['200'].headers).toHaveProperty('OpenStack-API-Version');
    expect(show.responses['404'].content['application/json'].schema).toEqual({ $ref: '#/components/schemas/Fault' });
    expect(document.paths['/servers'].get.responses['200'].links.next.operationId).toBe('listServers');
  });
});
