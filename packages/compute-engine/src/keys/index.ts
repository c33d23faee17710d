export { InvalidKey } from './invalid-key.js';
export { type GeneratedKeypair, generateSshKeypair } from './ssh-keypair.js';
export { parseSshPublicKey, type SshPublicKey } from './ssh-public-key.js';
export { generateX509, parseX509, type X509PublicKey } from './x509.js';
