import { CatalogError } from '@apistrata/catalogs';
import { describe, expect, it } from 'vitest';
import { badRequest, conflict, Rejection } from '../errors/rejection.js';
import { failedResult, resultValue } from './machine-call.js';

/** Serializes and restores an error of a host, as its requester receives it. */
function crossed(error: unknown): Error & { readonly code?: string } {
  try {
    resultValue(JSON.parse(JSON.stringify(failedResult(error))));
  } catch (thrown) {
    return thrown as Error;
  }
  throw new Error('expected an error');
}

describe('an error of a host', () => {
  it.each([[badRequest('unknown action')], [conflict('the machine is off')]])(
    'is restored as a rejection with its status: %s',
    (given) => {
      const { code, status, message, stack } = given;
      expect(crossed(given)).toBeInstanceOf(Rejection);
      expect(crossed(given)).toMatchObject({ code, status, message, stack });
    },
  );

  it('is restored as a catalog error with its kind', () => {
    const given = crossed(new CatalogError('VOLUME_NOT_FOUND', 'it is deleted'));
    expect(given).toBeInstanceOf(CatalogError);
    expect(given).toMatchObject({ code: 'VOLUME_NOT_FOUND', kind: 'not-found', message: 'it is deleted' });
  });

  it('keeps its name and code if it is any other error', () => {
    const given = Object.assign(new Error('no space'), { name: 'SystemError', code: 'ENOSPC' });
    expect(crossed(given)).toMatchObject({ name: 'SystemError', code: 'ENOSPC', message: 'no space' });
    expect(crossed(Object.assign(new Error('odd'), { code: 7 }))).not.toHaveProperty('code');
    expect(crossed('a string')).toMatchObject({ name: 'Error', message: 'a string' });
  });
});
