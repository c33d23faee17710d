import { CatalogError } from '@apistrata/catalogs';
import { describe, expect, it } from 'vitest';
import { badRequest, conflict, Refusal } from '../errors/refusal.js';
import { answerValue, failedWith } from './host-question.js';

/** What a host throws, as its asker gets it: answers travel as text. */
function crossed(error: unknown): Error & { readonly code?: string } {
  try {
    answerValue(JSON.parse(JSON.stringify(failedWith(error))));
  } catch (thrown) {
    return thrown as Error;
  }
  throw new Error('nothing was thrown');
}

describe('an error on its way from a host', () => {
  it.each([[badRequest('no such action')], [conflict('the machine is off')]])(
    'is a refusal again, with its status: %s',
    (given) => {
      const { code, status, message, stack } = given;
      expect(crossed(given)).toBeInstanceOf(Refusal);
      expect(crossed(given)).toMatchObject({ code, status, message, stack });
    },
  );

  it('is an error of a catalog again, with its kind', () => {
    const given = crossed(new CatalogError('VOLUME_NOT_FOUND', 'it has gone'));
    expect(given).toBeInstanceOf(CatalogError);
    expect(given).toMatchObject({ code: 'VOLUME_NOT_FOUND', kind: 'not-found', message: 'it has gone' });
  });

  it('keeps name and code where they are of others', () => {
    const given = Object.assign(new Error('no space'), { name: 'SystemError', code: 'ENOSPC' });
    expect(crossed(given)).toMatchObject({ name: 'SystemError', code: 'ENOSPC', message: 'no space' });
    expect(crossed(Object.assign(new Error('odd'), { code: 7 }))).not.toHaveProperty('code');
    expect(crossed('a word')).toMatchObject({ name: 'Error', message: 'a word' });
  });
});
