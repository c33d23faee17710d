import { describe, expect, it } from 'vitest';
import { redactHeaders, redactQuery, redactSecrets, SECRET_HEADERS } from './log-secrets.js';

describe('redactSecrets()', () => {
  it.each([
    ['/v2.1/os-console-auth-tokens/s3cret', '/v2.1/os-console-auth-tokens/[redacted]'],
    ['/v2.1/os-console-auth-tokens%2fs3cret', '/v2.1/os-console-auth-tokens/[redacted]'],
    ['/v2.1/os-console-auth-tokens%252Fs3cret/x', '/v2.1/os-console-auth-tokens/[redacted]'],
    ['/v2.1%2Fos-console-auth-tokens%2Fs3cret?a=1', '/os-console-auth-tokens/[redacted]?a=1'],
    ['/vnc?token=s3cret&a=1', '/vnc?token=[redacted]&a=1'],
    ['/v2.1/servers?name=web', '/v2.1/servers?name=web'],
    ['/v2.1/servers?name=%77eb', '/v2.1/servers?name=%77eb'],
    ['/vnc?%54oken=s3cret', '/vnc?%54oken=[redacted]'],
    ['/vnc?TOKEN=s3cret', '/vnc?TOKEN=[redacted]'],
  ])('converts %s to %s', (url, shown) => {
    expect(redactSecrets(url)).toBe(shown);
  });
});

describe('redactQuery()', () => {
  it('redacts the parameters that redactSecrets() redacts in URLs', () => {
    const query = {
      token: 's3cret',
      path: '?token=s3cret',
      TOKEN: ['s3cret'],
      nested: { token: 's3cret' },
      name: 'web',
    };
    const hidden = '[redacted]';
    expect(redactQuery(query)).toEqual({
      token: hidden,
      path: hidden,
      TOKEN: hidden,
      nested: hidden,
      name: 'web',
    });
    expect(redactQuery(undefined)).toBeUndefined();
  });
});

describe('redactHeaders()', () => {
  it('redacts headers with tokens, credentials and cookies', () => {
    expect(SECRET_HEADERS).toEqual([
      'x-auth-token',
      'x-service-token',
      'x-subject-token',
      'x-storage-token',
      'x-auth-key',
      'authorization',
      'proxy-authorization',
      'cookie',
      'set-cookie',
    ]);
  });

  it.each(SECRET_HEADERS)(
    'redacts the value of %s, even if it is empty, and does not modify the original headers',
    (name) => {
      for (const value of ['s3cret', '', ['s3cret']]) {
        const headers = { accept: 'a', [name]: value };
        expect(redactHeaders(headers)).toEqual({ accept: 'a', [name]: '[redacted]' });
        expect(headers).toEqual({ accept: 'a', [name]: value });
      }
    },
  );

  it('returns the same object if there are no secret headers', () => {
    const headers = { accept: 'a' };
    expect(redactHeaders(headers)).toBe(headers);
  });
});
