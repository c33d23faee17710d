import { describe, expect, it } from 'vitest';
import { generateSecretKey, Sealer } from './sealer.js';

const [old, fresh] = [generateSecretKey(), generateSecretKey()];

describe('a sealed value', () => {
  it('can be decrypted with its key in its context, and does not reveal its content', () => {
    const sealed = new Sealer([old]).seal('a password', 'job-1');
    expect(sealed).not.toContain(Buffer.from('a password').toString('base64').slice(0, 8));
    expect(sealed).not.toContain('password');
    expect(new Sealer([old]).open(sealed, 'job-1')).toBe('a password');
  });

  it('cannot be decrypted in another context, with another key, or after a change', () => {
    const sealed = new Sealer([old]).seal('a password', 'job-1');
    const changed = `${sealed.slice(0, -6)}${sealed.at(-6) === 'A' ? 'B' : 'A'}${sealed.slice(-5)}`;
    expect(() => new Sealer([old]).open(sealed, 'job-2')).toThrow(
      expect.objectContaining({ code: 'DECRYPTION_FAILED' }),
    );
    expect(() => new Sealer([old]).open(changed, 'job-1')).toThrow(
      expect.objectContaining({ code: 'DECRYPTION_FAILED' }),
    );
    expect(() => new Sealer([fresh]).open(sealed, 'job-1')).toThrow(
      `the value is encrypted with the secret key ${sealed.slice(0, 8)}, which this process does not have`,
    );
  });

  it('can be decrypted with every key of a list, and is encrypted with the first', () => {
    const [before, both, after] = [[old], [fresh, old], [fresh]].map((keys) => new Sealer(keys));
    expect(both!.open(before!.seal('a', 'x'), 'x')).toBe('a');
    expect(after!.open(both!.seal('b', 'x'), 'x')).toBe('b');
    expect([both, after].map((sealer) => sealer?.isCurrent(before!.seal('a', 'x')))).toEqual([false, false]);
    expect(after!.isCurrent(both!.seal('b', 'x'))).toBe(true);
  });

  it('can be decrypted with the key in base64, URL-safe or not, and in hexadecimal digits', () => {
    const bytes = Buffer.from(old, 'base64');
    const sealed = new Sealer([old]).seal('a', 'x');
    for (const text of [bytes.toString('hex'), bytes.toString('base64url'), bytes.toString('hex').toUpperCase()])
      expect(new Sealer([text]).open(sealed, 'x')).toBe('a');
  });

  it.each(['', 'secret', old.slice(4), `${old}AAAA`, '?'.repeat(44), 'z'.repeat(64)])(
    'cannot be created with the key %j',
    (key) => {
      expect(() => new Sealer([key])).toThrow(
        'a secret key must be 32 bytes in base64, or 64 hexadecimal digits: openssl rand -base64 32',
      );
    },
  );
});
