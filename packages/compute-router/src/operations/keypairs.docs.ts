import type { Resource } from '../description/resource.js';

export const keypairDocs: Resource = {
  tag: 'keypairs',
  about: 'Public keys by name, each the property of one user, that are put into servers so that the user can log in.',
  parameters: { id: 'Name of the key pair' },
  operations: {
    'GET /os-keypairs': [
      'listKeypairs',
      'The key pairs of the caller. From 2.10 on an administrator can ask for those of another user; pages come with 2.35.',
    ],
    'POST /os-keypairs': [
      'createKeypair',
      'Imports a public key. Up to 2.91 a pair is made without one, and the answer alone shows its private half; from 2.92 on the public key must be given, because a private key should never travel.',
      {
        403: 'The policy does not allow it, or the quota of key pairs is used up',
        409: 'The user has a key pair of that name',
      },
    ],
    'GET /os-keypairs/{id}': [
      'showKeypair',
      'One key pair, without its private half. From 2.10 on an administrator can ask for that of another user.',
    ],
    'DELETE /os-keypairs/{id}': [
      'deleteKeypair',
      'Forgets a key pair. Servers that hold the key keep it. The status is 202 at 2.1 and 204 from 2.2 on, since nothing is left to do afterwards.',
    ],
  },
  fields: {
    'query.user_id': 'Id of the user whose key pairs are meant, for administrators; default: the caller. New in 2.10',
    keypairs: 'The key pairs of this page, each in an object of its own',
    keypairs_links: 'Link to the next page; absent on the last one. New in 2.35',
    keypair: 'A key pair',
    id: 'Number of the key pair in the database',
    name: 'Name of the key pair, unique among those of its user. From 2.92 on `@` and `.` are legal too',
    public_key: 'The public key, in the form that OpenSSH or, for `x509`, a certificate in PEM has',
    private_key: 'The private key, of a pair that the API has made; told once and kept nowhere. Up to 2.91',
    fingerprint: 'Fingerprint of the public key, by which people compare keys',
    type: '`ssh` for a login with SSH, `x509` for a certificate. New in 2.2',
    'body.keypair.user_id': 'Id of the user who shall own it, for administrators; default: the caller. New in 2.10',
    user_id: 'Id of the user who owns it',
  },
};
