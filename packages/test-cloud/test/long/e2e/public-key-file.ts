import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function sshField(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** A file with a public key in the format of SSH: since 2.92, clients must provide their own. */
export function publicKeyFile(): { readonly path: string; remove(): void } {
  const { publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const blob = Buffer.concat([sshField(Buffer.from('ssh-ed25519')), sshField(raw)]);
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-test-cloud-'));
  const path = join(folder, 'id.pub');
  writeFileSync(path, `ssh-ed25519 ${blob.toString('base64')} laptop\n`);
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
