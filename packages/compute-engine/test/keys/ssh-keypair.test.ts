import { createPrivateKey, createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { generateSshKeypair } from '../../src/keys/ssh-keypair.js';
import { parseSshPublicKey } from '../../src/keys/ssh-public-key.js';
import { writeSshFields } from '../../src/keys/ssh-wire.js';

describe('a generated SSH key pair', () => {
  it('is RSA of 2048 bits with the usual comment, and its fingerprint is that of its public key', async () => {
    const pair = await generateSshKeypair();
    expect(pair.publicKey).toMatch(/^ssh-rsa [A-Za-z0-9+/]+={0,2} Generated-by-Nova$/);
    expect(parseSshPublicKey(pair.publicKey)).toEqual({ type: 'ssh-rsa', bits: 2048, fingerprint: pair.fingerprint });
    expect(pair.fingerprint).toMatch(/^[0-9a-f]{2}(:[0-9a-f]{2}){15}$/);
  });

  it('has matching keys, the private one in the traditional format', async () => {
    const pair = await generateSshKeypair();
    expect(pair.privateKey).toMatch(/^-----BEGIN RSA PRIVATE KEY-----\n[\s\S]+\n-----END RSA PRIVATE KEY-----\n$/);
    const jwk = createPublicKey(createPrivateKey(pair.privateKey)).export({ format: 'jwk' });
    const modulus = Buffer.from(jwk.n as string, 'base64url');
    const blob = writeSshFields(Buffer.from('ssh-rsa'), Buffer.of(1, 0, 1), Buffer.concat([Buffer.of(0), modulus]));
    expect(pair.publicKey.split(' ')[1]).toBe(blob.toString('base64'));
  });

  it('differs each time', async () => {
    const [one, two] = await Promise.all([generateSshKeypair(), generateSshKeypair()]);
    expect(one.publicKey).not.toBe(two.publicKey);
  });

  it('does not block the event loop while it is generated', async () => {
    const order: string[] = [];
    const generated = generateSshKeypair().then(() => order.push('key'));
    // A synchronous implementation would settle the promise before this loop ends, whereas work on another thread
    // cannot.
    for (let i = 0; i < 100; i++) await null;
    order.push('other work');
    await generated;
    expect(order).toEqual(['other work', 'key']);
  });
});
