import type { SecureContextOptions } from 'node:tls';
import type { Key, Sealer } from '../../secrets/sealer.js';

/** Who has the cloud's secret key may speak, and nobody else listens: no certificates, and past links stay closed. */
export const linkSecurity: SecureContextOptions = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
};

/** Keys of links; those who call use the first one, and all of them are let in. */
export function linkKeys(sealer: Sealer): readonly [Key, ...Key[]] {
  return sealer.keysFor('links between hosts');
}
