import { openApi } from '@apistrata/microversion/router';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { operations } from '../src/index.js';

const versions = ['2.1', '2.2', '2.13', '2.26', '2.36', '2.53', '2.64', '2.75', '2.90', '2.100'];

describe('the OpenAPI document', () => {
  it.each(versions)('of %s is valid in the eyes of an independent validator', async (version) => {
    const document = openApi(operations, { title: 'Compute API', version, serverUrl: 'http://127.0.0.1/v2.1' });
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect([valid, errors]).toEqual([true, undefined]);
  });
});
