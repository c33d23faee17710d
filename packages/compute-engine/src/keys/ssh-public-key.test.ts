import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidKey } from './invalid-key.js';
import { parseSshPublicKey } from './ssh-public-key.js';
import { encodeSshInteger, writeSshFields } from './ssh-wire.js';

/**
 * Keys that ssh-keygen generated (except security keys, which were assembled by hand), with their sizes and
 * fingerprints.
 */
const keys = [
  {
    type: 'ssh-rsa',
    bits: 2048,
    fingerprint: '08:6f:89:45:52:49:15:a9:67:97:25:7a:33:fb:72:16',
    text: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC+limW0XZI2X/TzAkvUImLxu3pvjav4euECoQPDBvy1zfzIywo5QB6LqPCiAeNu31NOL0HqhYtcemh4sRuZezj9evUkmeUeG11ZCUa9yBs/jamWFeXKnzhvk6kdZAlw8YZpMra/YD/4IBrBvP6rltNafL9yT9nD1gPK2d3ChfAsIHg114L9YuJ3qoiyryOOZXgTVO9C/cPK9Vn88nPw9wrly1wl5bnSUstvq00QTB4dkB7z/6iM/p+Q14/7620bLVA/CYAa1wyglLXW9nVskdZTVzOvr8yEewS6t2SKqf2Lq6N0+O6sHwgoZHlOiah7IMFaDbj0eLUYTmkxWyjcjdD rsa2048 key',
  },
  {
    type: 'ssh-rsa',
    bits: 1024,
    fingerprint: '72:a0:75:39:32:ec:19:d3:63:b0:24:ba:85:ba:00:f9',
    text: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC3cx5p5bpLOKJA9uBYCjOU6Jv9ngMSk60ZFGRStA0Tfsfmzn6VsUdnJdECEwOE5/hzVul20rOip9ec226iv2ak5vaCMLvIf6jU6utM/V7j50LrR2+UsUIft6nkBoxtceKYIhLR8iSS1lgbcAyMZ3xFkjmTUIuvQz9QSfmbjegR4Q== rsa1024 key',
  },
  {
    type: 'ssh-dss',
    bits: 1024,
    fingerprint: '9a:b9:a4:0b:e9:91:bb:9a:c6:96:c3:0e:91:93:66:98',
    text: 'ssh-dss AAAAB3NzaC1kc3MAAACBAOESXqJe5pNi+WEqp5xxrxwjATIbqUEyJA96fYvE/4WAac4iXc9w9vIsi9vbxqN/Y0gGloxaj6CvHzUFJkjn3EtroU8EebH94eB4iRVwemf7YntjODRy2LnaTiijxzH1QlwV0FzQG8ajyQc7Mcz9to1/CJ9g9SqT8//R49gRZKLVAAAAFQC8prYL9h/WJ3ug5uKdyHll7KL9SwAAAIBOIcrHyLK2cA//Qqm0cnNlkWvmMIS/KYlbcsX7XBW003XOAoFAKAha8Q5716ielRn1We/v8ekmbvCVrBMrXRUmEQOfdIU5rgaM1grXJ18CXmGja+mUGRUZX+MjfOToQDH4TNxCOK0Q21Q4KnHcEQ46wlKmbikY5itkRJTqmt9XEwAAAIEAm4dmQ97PTQy+3VOySLXIt5IUjVtbjrVRYdJ0PKXrFFUZXX7NFT+uHevm6kfxm4RhsaYUi5HBCVEuCcJ08U/lMFOJVMfegaSHP800eroOMfB8MkNdgwvdvQk/k3jkvaAPVW9g3NTQlBeXDeyPcx7rZ/JN32rOpZU7KhPp5hir0ls= dsa key',
  },
  {
    type: 'ecdsa-sha2-nistp256',
    bits: 256,
    fingerprint: '58:44:49:02:c0:0c:ab:b4:06:4d:3a:79:6f:8e:fe:c9',
    text: 'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBGeJ66jWwdYfp+32KipNzFwtz+Bb4Oh09waNlossPuyfcd9ZxvRLWO5cj6aqKgZmPtTkzhR9aF8Gmfc0p6xAmxc= ecdsa256 key',
  },
  {
    type: 'ecdsa-sha2-nistp384',
    bits: 384,
    fingerprint: '89:69:b7:a6:53:b4:37:d4:02:39:29:5f:5a:71:93:70',
    text: 'ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBEorhXqOdxpsBHhXPXZnYl170VHi0qmfN/T+tEID4gyl2l5bHbk393LXZTf8Ube1ocBYDIBE+1ezAJJeU8lhXuSaKTvyZkLXVHm4uUEnXsG4fr7hRs2I8nVrC8DnYZqiOA== ecdsa384 key',
  },
  {
    type: 'ecdsa-sha2-nistp521',
    bits: 521,
    fingerprint: '37:44:4c:e5:e6:93:14:af:24:40:ca:64:e1:a3:6b:cd',
    text: 'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAAmylRU4WFFeWfRv52vIAy7SxK4L7cbHp9W45YjraAstgQTRzohoCnQvZ/Vige2AN1goFTpHMVjdP4zC9YHKwdSQgFnQZ5Hh3RmbFPIbKkbIkPcg+n6DMo1lK7KG0130sHATznJ7MjIuEsXoy3XorY70yefwVZ7+W2BIs6IaHwQNDDyrA== ecdsa521 key',
  },
  {
    type: 'ssh-ed25519',
    bits: 256,
    fingerprint: '28:f4:40:dc:cd:05:22:20:30:4e:d1:dd:01:c2:42:2e',
    text: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAz8sZK26ZfelzFluzTri0h8Cp23VpyPHtj4DE3xU8xy ed25519 key',
  },
  {
    type: 'sk-ssh-ed25519@openssh.com',
    bits: 256,
    fingerprint: '3c:1b:c2:47:66:da:f7:bd:14:53:d9:88:ed:34:fd:02',
    text: 'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIAz8sZK26ZfelzFluzTri0h8Cp23VpyPHtj4DE3xU8xyAAAABHNzaDo= sk key',
  },
  {
    type: 'sk-ecdsa-sha2-nistp256@openssh.com',
    bits: 256,
    fingerprint: '85:2a:12:67:c8:ff:8c:72:2c:5d:12:0d:cd:b9:e2:52',
    text: 'sk-ecdsa-sha2-nistp256@openssh.com AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20AAAAIbmlzdHAyNTYAAABBBGeJ66jWwdYfp+32KipNzFwtz+Bb4Oh09waNlossPuyfcd9ZxvRLWO5cj6aqKgZmPtTkzhR9aF8Gmfc0p6xAmxcAAAAEc3NoOg== sk key',
  },
] as const;

const [rsa] = keys;
const ed25519 = keys.find(({ type }) => type === 'ssh-ed25519')!;
const ecdsa = keys.find(({ type }) => type === 'ecdsa-sha2-nistp256')!;
const dsa = keys.find(({ type }) => type === 'ssh-dss')!;

const blobOf = (key: { readonly text: string }) => Buffer.from(key.text.split(' ')[1]!, 'base64');
const textOf = (type: string, ...fields: readonly Uint8Array[]) =>
  `${type} ${writeSshFields(Buffer.from(type), ...fields).toString('base64')}`;
const number = (value: bigint) => encodeSshInteger(Buffer.from(value.toString(16).replace(/^(?=(..)*.$)/, '0'), 'hex'));
const flipped = (key: { readonly text: string; readonly type: string }, index: number) => {
  const blob = blobOf(key);
  blob[index]! ^= 1;
  return `${key.type} ${blob.toString('base64')}`;
};

describe('a public key in OpenSSH format', () => {
  it.each(keys)('of type $type and $bits bits has the fingerprint that ssh-keygen prints', (key) => {
    const { type, bits, fingerprint } = key;
    expect(parseSshPublicKey(key.text)).toEqual({ type, bits, fingerprint });
  });

  it.each([
    ['without a comment', (text: string) => text.split(' ').slice(0, 2).join(' ')],
    ['with a line break at its end', (text: string) => `${text}\r\n`],
    ['with tabs between its parts', (text: string) => text.replaceAll(' ', '\t ')],
    ['with any comment', (text: string) => `${text} é "x" <y>`],
  ])('may be written %s', (_, change) => {
    expect(parseSshPublicKey(change(rsa.text)).fingerprint).toBe(rsa.fingerprint);
  });

  it.each<[string, string]>([
    ['nothing', ''],
    ['a single word', 'ssh-rsa'],
    ['a line that begins with a blank', ` ${rsa.text}`],
    ['a line that begins with options', `command="x" ${rsa.text}`],
    ['an unknown type', 'ssh-foo AAAA'],
    ['a name of Object.prototype', 'constructor AAAA'],
    ['base64 with other characters', `${rsa.text.slice(0, 40)}!${rsa.text.slice(41)}`],
    ['base64 of a wrong length', rsa.text.split(' ').slice(0, 2).join(' ').slice(0, -1)],
    ['a truncated key', `ssh-rsa ${blobOf(rsa).subarray(0, 60).toString('base64')}`],
    [
      'a key followed by other bytes',
      `ssh-rsa ${Buffer.concat([blobOf(rsa), Buffer.of(0, 0, 0, 0)]).toString('base64')}`,
    ],
    ['a key of a type other than the declared one', `ssh-ed25519 ${rsa.text.split(' ')[1]}`],
    ['a private key', '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----'],
    ['RSA without numbers', textOf('ssh-rsa')],
    ['RSA with empty numbers', textOf('ssh-rsa', Buffer.of(), Buffer.of())],
    ['RSA with a negative modulus', textOf('ssh-rsa', number(65537n), Buffer.of(0x81))],
    ['RSA with an even modulus', textOf('ssh-rsa', number(65537n), number(2n ** 1024n))],
    ['RSA with exponent 1', textOf('ssh-rsa', number(1n), number(2n ** 1024n - 1n))],
    ['RSA with an even exponent', textOf('ssh-rsa', number(4n), number(2n ** 1024n - 1n))],
    ['RSA with an exponent beyond the modulus', textOf('ssh-rsa', number(65537n), number(35n))],
    ['DSA with small numbers', textOf('ssh-dss', number(7n), number(3n), number(2n), number(4n))],
    ['DSA without its last number', `ssh-dss ${blobOf(dsa).subarray(0, -133).toString('base64')}`],
    ['ECDSA with a point off the curve', flipped(ecdsa, 60)],
    ['ECDSA on a curve other than the declared one', flipped(ecdsa, 34)],
    [
      'ECDSA with a compressed point',
      textOf(ecdsa.type, Buffer.from('nistp256'), Buffer.of(2, ...blobOf(ecdsa).subarray(40, 72))),
    ],
    ['Ed25519 of 31 bytes', textOf('ssh-ed25519', blobOf(ed25519).subarray(-31))],
    ['a security key without application', textOf('sk-ssh-ed25519@openssh.com', blobOf(ed25519).subarray(-32))],
    [
      'a security key with an empty application',
      textOf('sk-ssh-ed25519@openssh.com', blobOf(ed25519).subarray(-32), Buffer.of()),
    ],
  ])('is not %s', (_, text) => {
    expect(() => parseSshPublicKey(text)).toThrow(InvalidKey);
  });

  it('is rejected if it is truncated anywhere', () => {
    for (const key of keys) {
      const blob = blobOf(key);
      for (let length = 0; length < blob.length; length++) {
        const text = `${key.type} ${blob.subarray(0, length).toString('base64')}`;
        expect(() => parseSshPublicKey(text), `${key.type} cut to ${length}`).toThrow(InvalidKey);
      }
    }
  });

  it('is parsed or rejected with InvalidKey, whichever bytes follow a known type', () => {
    const type = fc.constantFrom(...keys.map((key) => key.type));
    const fields = fc.array(fc.uint8Array({ maxLength: 70 }), { maxLength: 5 });
    fc.assert(
      fc.property(type, fields, fc.uint8Array({ maxLength: 8 }), (name, parts, rest) => {
        const blob = Buffer.concat([writeSshFields(Buffer.from(name), ...parts), rest]);
        try {
          expect(parseSshPublicKey(`${name} ${blob.toString('base64')}`).type).toBe(name);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidKey);
        }
      }),
    );
  });

  it('is rejected with a code and a status, without its content', () => {
    try {
      parseSshPublicKey('secret-type AAAA');
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ name: 'InvalidKey', code: 'INVALID_KEY', status: 400 });
      expect((error as Error).message).not.toMatch(/secret/);
    }
  });
});
