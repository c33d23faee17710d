import { computeApiDescription, newestSupported, operations } from '@apistrata/compute-router';
import { openApi } from '@apistrata/microversion-router';
import { compileErrors, validate } from '@readme/openapi-parser';
import { describe, expect, it } from 'vitest';

const versions = Array.from({ length: Number(newestSupported().minor) }, (_, index) => `2.${index + 1}`);

async function problems(actions: 'one-of' | 'separate', version: string): Promise<string> {
  const document = openApi(operations, { ...computeApiDescription, version, actions });
  const result = await validate(structuredClone(document) as never);
  return result.valid ? '' : compileErrors(result);
}

// Unlike the validator in the compute API's own tests, this one also checks names, path parameters and references.
describe('the OpenAPI document according to a second validator', () => {
  it.each(versions)('of %s is valid', async (version) => {
    expect(await problems('one-of', version)).toBe('');
  });

  it.each(['2.1', '2.53', '2.100'])('of %s is valid with each action as a separate path', async (version) => {
    expect(await problems('separate', version)).toBe('');
  });

  it('is rejected if it is invalid', async () => {
    const document = openApi(operations, { ...computeApiDescription, version: '2.1' }) as { paths: object };
    const broken = { ...document, paths: { ...document.paths, '/broken': { get: { responses: { 200: {} } } } } };
    expect((await validate(structuredClone(broken) as never)).valid).toBe(false);
  });
});
