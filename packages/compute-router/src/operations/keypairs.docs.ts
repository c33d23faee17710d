import type { Resource } from '../reference/resource.js';

export const keypairDocs: Resource = {
  tag: 'keypairs',
  about: 'Key pairs: named public keys of a user. The public key is injected into servers for login.',
  parameters: { id: 'Name of the key pair.' },
  operations: {
    'GET /os-keypairs': [
      'listKeypairs',
      'Lists the key pairs of the caller. Administrators can list the key pairs of another user.',
    ],
    'POST /os-keypairs': [
      'createKeypair',
      'Imports a public key. Until 2.91, a key pair is generated if the public key is absent, and only this response contains the private key. Since 2.92, the public key is required.',
      {
        403: 'The policy does not allow it, or the quota for key pairs is exceeded.',
        409: 'The user has a key pair with this name.',
      },
    ],
    'GET /os-keypairs/{id}': [
      'showKeypair',
      'Shows a key pair without its private key. Administrators can show the key pair of another user.',
    ],
    'DELETE /os-keypairs/{id}': [
      'deleteKeypair',
      'Deletes a key pair. Servers that were created with it keep the public key.',
    ],
  },
  fields: {
    'query.user_id': 'ID of the user who owns the key pairs. Administrators only. Default: the caller.',
    keypairs: 'The key pairs of this page.',
    keypairs_links: 'Link to the next page. Absent on the last page.',
    keypair: 'A key pair.',
    id: 'ID of the key pair in the database: an integer.',
    name: 'Name of the key pair. Unique for the user. Since 2.92, `@` and `.` are allowed.',
    public_key: 'The public key: in OpenSSH format for `ssh`, a PEM certificate for `x509`.',
    private_key: 'The generated private key. Returned only once and never stored.',
    fingerprint: 'Fingerprint of the public key.',
    type: 'Type of the key pair: `ssh` or `x509`. Default: `ssh`.',
    'body.keypair.user_id': 'ID of the user who will own the key pair. Administrators only. Default: the caller.',
    user_id: 'ID of the user who owns the key pair.',
  },
};
