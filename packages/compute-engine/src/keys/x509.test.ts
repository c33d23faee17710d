import { createPublicKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { InvalidKey } from './invalid-key.js';
import { loadNodeForge } from './node-forge.js';
import { generateX509, parseX509 } from './x509.js';

/** A certificate that openssl generated, with its fingerprint. */
const certificate = {
  fingerprint: 'a7:95:1a:49:bf:8a:9f:e2:30:c9:08:04:ea:c2:7c:15:d2:cb:4a:b4',
  pem: `-----BEGIN CERTIFICATE-----
MIIBeTCCAR+gAwIBAgIUNhC5NT1t42sDJZHhQYr6PfCXsWwwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHZml4dHVyZTAeFw0yNjExMjAxOTQ2NDFaFw0zNjExMTcxOTQ2
NDFaMBIxEDAOBgNVBAMMB2ZpeHR1cmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AATgZtcofuQDTbyJPbRJHfO/zgXXIDcbkVQ89bv56hy/7xlqUBzlYGpoHd4Untmk
7XjjnVaO9IqihCmqNuKkQjSHo1MwUTAdBgNVHQ4EFgQUmTTOTwNckuIvq/mjnYAf
elEbMacwHwYDVR0jBBgwFoAUmTTOTwNckuIvq/mjnYAfelEbMacwDwYDVR0TAQH/
BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiBAKRn7KdjqtMm+i7IQFyAvYO+01Wuq
31nBbp5BgNOfZwIhAIPtSqhyNsW8wVQIh5lAInpaFBFAcyr9f5iXIE1lVZAc
-----END CERTIFICATE-----
`,
};

describe('a certificate in PEM format', () => {
  it('has the fingerprint that openssl prints', () => {
    expect(parseX509(certificate.pem)).toEqual({ fingerprint: certificate.fingerprint });
  });

  it('may have text before and after it', () => {
    expect(parseX509(`subject=fixture\n${certificate.pem}\n`)).toEqual({ fingerprint: certificate.fingerprint });
  });

  it.each([
    ['nothing', ''],
    ['words', 'not a certificate'],
    ['only its delimiters', '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n'],
    ['a truncated one', certificate.pem.replace(/\n.{20}/, '\n')],
    ['a public key', createPublicKey(certificate.pem).export({ type: 'spki', format: 'pem' }) as string],
    ['only its base64', certificate.pem.split('\n').slice(1, -2).join('')],
  ])('is not %s', (_, text) => {
    expect(() => parseX509(text)).toThrow(InvalidKey);
  });
});

describe('a generated certificate', () => {
  const now = Date.UTC(2026, 1, 3);

  it('is rejected with 501 and the name of the missing package if `node-forge` is not installed', async () => {
    const missing = () => Promise.reject(Object.assign(new Error(), { code: 'ERR_MODULE_NOT_FOUND' }));
    const text = expect.stringContaining('node-forge is not installed');
    await expect(loadNodeForge(missing)).rejects.toMatchObject({ status: 501, message: text });
    await expect(loadNodeForge(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });

  it('is self-signed, names the user, is for client authentication, and is valid immediately', async () => {
    const pair = await generateX509('alice-é', 'demo', now);
    const certificateOfPair = new X509Certificate(pair.publicKey);
    expect(certificateOfPair.verify(certificateOfPair.publicKey)).toBe(true);
    expect(certificateOfPair.ca).toBe(false);
    expect(certificateOfPair.publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 2048 });
    expect(certificateOfPair.subject).toBe('OU=demo\nCN=alice-é');
    expect(certificateOfPair.issuer).toBe(certificateOfPair.subject);
    expect(certificateOfPair.subjectAltName).toContain('alice-é@localhost');
    expect(certificateOfPair.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(Date.parse(certificateOfPair.validFrom)).toBe(now);
    expect(Date.parse(certificateOfPair.validTo)).toBe(Date.UTC(2036, 1, 3));
    expect(parseX509(pair.publicKey)).toEqual({ fingerprint: pair.fingerprint });
  });

  it('has its private key as PKCS#12 in base64 with an empty password', async () => {
    const pair = await generateX509('alice', 'demo', now);
    expect(pair.privateKey).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
    const pfx = Buffer.from(pair.privateKey, 'base64');
    // Reading fails if certificate and key do not match.
    expect(() => createSecureContext({ pfx, passphrase: '' })).not.toThrow();
    expect(() => createSecureContext({ pfx, passphrase: 'x' })).toThrow(/mac verify failure/);
  });

  it('differs each time', async () => {
    const [one, two] = await Promise.all([generateX509('a', 'p'), generateX509('a', 'p')]);
    expect(one.fingerprint).not.toBe(two.fingerprint);
    expect(new X509Certificate(one.publicKey).serialNumber).not.toBe(new X509Certificate(two.publicKey).serialNumber);
  });

  it('can be generated for a user outside any project', async () => {
    expect(new X509Certificate((await generateX509('alice', '', now)).publicKey).subject).toBe('CN=alice');
  });
});
