import { resource } from '../reference/resource.js';

export const keypairDocs = resource({
  tag: 'keypairs',
  parameters: { id: 'Name of the key pair.' },
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
});
