import { describe, expect, it } from 'vitest';
import { hidingQuery, redactSecrets } from './log-secrets.js';

describe('redactSecrets()', () => {
  it.each([
    ['/v2.1/os-console-auth-tokens/s3cret', '/v2.1/os-console-auth-tokens/[redacted]'],
    ['/v2.1/os-console-auth-tokens%2fs3cret', '/v2.1/os-console-auth-tokens/[redacted]'],
    ['/v2.1/os-console-auth-tokens%252Fs3cret/x', '/v2.1/os-console-auth-tokens/[redacted]'],
    ['/v2.1%2Fos-console-auth-tokens%2Fs3cret?a=1', '/os-console-auth-tokens/[redacted]?a=1'],
    ['/vnc?token=s3cret&a=1', '/vnc?token=[redacted]&a=1'],
    ['/v2.1/servers?name=web', '/v2.1/servers?name=web'],
  ])('shows %s as %s', (url, shown) => {
    expect(redactSecrets(url)).toBe(shown);
  });
});

describe('hidingQuery()', () => {
  it('hides the values that a URL would not show', () => {
    const query = {
      token: 's3cret',
      path: '?token=s3cret',
      TOKEN: ['s3cret'],
      nested: { token: 's3cret' },
      name: 'web',
    };
    const hidden = '[redacted]';
    expect(hidingQuery(query)).toEqual({ token: hidden, path: hidden, TOKEN: hidden, nested: hidden, name: 'web' });
    expect(hidingQuery(undefined)).toBeUndefined();
  });
});
