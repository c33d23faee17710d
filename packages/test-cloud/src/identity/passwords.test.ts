import { describe, expect, it } from 'vitest';
import { Passwords } from './passwords.js';

describe('the hash of a password', () => {
  it('matches only its password, and differs each time', async () => {
    const passwords = new Passwords(16);
    const [first, second] = [await passwords.hash('s3cret'), passwords.hashSync('s3cret')];
    expect(first).not.toBe(second);
    expect(first).not.toContain('s3cret');
    for (const hash of [first, second]) {
      expect(await passwords.matches('s3cret', hash)).toBe(true);
      expect(await passwords.matches('S3cret', hash)).toBe(false);
    }
  });

  it('is valid after the cost has changed', async () => {
    const hash = await new Passwords(2).hash('s3cret');
    expect(await new Passwords(2 ** 15).matches('s3cret', hash)).toBe(true);
  });

  it.each([undefined, null, '', 's3cret', 'scrypt$2$$'])('never matches %j', async (hash) => {
    expect(await new Passwords(2).matches('s3cret', hash)).toBe(false);
  });
});
