import { generateKeyPair, randomBytes, sign, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { fingerprint } from './fingerprint.js';
import { InvalidKey } from './invalid-key.js';
import { loadNodeForge } from './node-forge.js';
import type { GeneratedKeypair } from './ssh-keypair.js';

/** Properties of a certificate. */
export interface X509PublicKey {
  /** SHA-1 digest of the certificate, as hexadecimal pairs joined by colons. */
  readonly fingerprint: string;
}

/** Object identifier of the user principal name, by which a Windows guest maps a certificate to an account. */
const USER_PRINCIPAL_NAME = '1.3.6.1.4.1.311.20.2.3';
const SUBJECT_ALT_NAME = '2.5.29.17';
const VALID_YEARS = 10;

/**
 * Parses a certificate in PEM format.
 *
 * @throws InvalidKey
 */
export function parseX509(pem: string): X509PublicKey {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new InvalidKey('the certificate is not in PEM format');
  try {
    return { fingerprint: fingerprint('sha1', new X509Certificate(pem).raw) };
  } catch (cause) {
    throw new InvalidKey('the certificate cannot be read', cause);
  }
}

/**
 * Generates a self-signed client certificate for a user, with an RSA key of 2048 bits; generating the key does not
 * block the event loop.
 *
 * @param now start of the certificate's validity, in milliseconds since the epoch
 * @returns the certificate in PEM format, the private key as PKCS#12 (empty password) in base64
 * @throws Rejection `NOT_SUPPORTED` if `node-forge` is not installed
 */
export async function generateX509(userId: string, projectId: string, now = Date.now()): Promise<GeneratedKeypair> {
  const [forge, { privateKey }] = await Promise.all([
    loadNodeForge(),
    promisify(generateKeyPair)('rsa', { modulusLength: 2048 }),
  ]);
  const { asn1, pki } = forge;
  const key = pki.privateKeyFromPem(privateKey.export({ type: 'pkcs1', format: 'pem' }) as string);

  const utf8String = (value: string) =>
    asn1.create(asn1.Class.UNIVERSAL, asn1.Type.UTF8, false, forge.util.encodeUtf8(value));
  const principal = asn1.create(asn1.Class.CONTEXT_SPECIFIC, 0, true, [
    asn1.create(asn1.Class.UNIVERSAL, asn1.Type.OID, false, asn1.oidToDer(USER_PRINCIPAL_NAME).getBytes()),
    asn1.create(asn1.Class.CONTEXT_SPECIFIC, 0, true, [utf8String(`${userId}@localhost`)]),
  ]);
  const altNames = asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SEQUENCE, true, [principal]);

  const utf8 = asn1.Type.UTF8 as never;
  const subjectName = [
    { name: 'organizationalUnitName', value: projectId, valueTagClass: utf8 },
    { name: 'commonName', value: userId, valueTagClass: utf8 },
  ].filter(({ value }) => value !== '');

  const certificate = pki.createCertificate();
  certificate.publicKey = pki.setRsaPublicKey(key.n, key.e);
  certificate.serialNumber = `01${randomBytes(15).toString('hex')}`;
  certificate.validity.notBefore = new Date(now);
  certificate.validity.notAfter = new Date(now);
  certificate.validity.notAfter.setUTCFullYear(certificate.validity.notBefore.getUTCFullYear() + VALID_YEARS);
  certificate.setSubject(subjectName);
  certificate.setIssuer(subjectName);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: false },
    { name: 'extKeyUsage', clientAuth: true },
    { id: SUBJECT_ALT_NAME, value: asn1.toDer(altNames).getBytes() },
  ]);
  // `node:crypto` signs many times faster than `node-forge`, which would block the event loop.
  const signer = {
    sign: () => {
      const signedContent = asn1.toDer(certificate.tbsCertificate).getBytes();
      return sign('sha256', Buffer.from(signedContent, 'latin1'), privateKey).toString('latin1');
    },
  };
  certificate.sign(signer as never, forge.md.sha256.create());

  const publicKey = pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
  // One round, because key stretching cannot protect an empty password.
  const pkcs12 = forge.pkcs12.toPkcs12Asn1(key, certificate, '', { algorithm: '3des', count: 1 });
  return {
    publicKey,
    privateKey: forge.util.encode64(asn1.toDer(pkcs12).getBytes()),
    fingerprint: parseX509(publicKey).fingerprint,
  };
}
