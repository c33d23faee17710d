import { execFileSync } from 'node:child_process';

function has(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns a requirement for encrypting or capturing tunnels that this computer does not meet; undefined if it meets
 * all.
 */
export function missingForEncryption(): string | undefined {
  if (!has('wg')) return 'wireguard-tools';
  if (!has('wireguard-go')) return 'wireguard-go';
  if (!has('tcpdump')) return 'tcpdump';
  return undefined;
}

/** Returns whether the kernel implements WireGuard. */
export function kernelHasWireguard(): boolean {
  try {
    const command = ['--net', 'ip', 'link', 'add', 'test', 'type', 'wireguard'];
    execFileSync('unshare', command, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
