import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QemuError } from '../qemu-error.js';
import { DeviceNames, deriveTag } from './device-names.js';

/**
 * The directory that contains the name claims of this computer's hosts. Claims, like devices, do not survive a reboot.
 */
const CLAIMS_FOLDER = '/run/apistrata/networks';

interface NameClaim {
  /** The directory of the claiming host's machines, which identifies the host. */
  readonly directory: string;
  /** The UDP port of the host's tunnels; null if it has no tunnels. */
  readonly port: number | null;
  /** Whether the host encrypts its tunnels. */
  readonly encrypted: boolean;
}

async function readClaims(): Promise<ReadonlyMap<string, NameClaim>> {
  const claims = new Map<string, NameClaim>();
  for (const tag of await readdir(CLAIMS_FOLDER).catch(() => [])) {
    const claimText = await readFile(join(CLAIMS_FOLDER, tag), 'utf8').catch(() => '');
    const [, directory = '', port = '', encrypted] = /^(\/.*)\n(\d*)( encrypted)?\n$/.exec(claimText) ?? [];
    // If a host's directory no longer exists, its devices have no owner.
    if (existsSync(directory))
      claims.set(tag, { directory, port: port === '' ? null : Number(port), encrypted: encrypted !== undefined });
  }
  return claims;
}

/**
 * Reserves a host's network device names, which never change and differ from those of other hosts on this computer.
 *
 * @param port the UDP port of the host's tunnels; null if it has no tunnels
 * @param encrypted whether the tunnels are encrypted; only one host on each computer can encrypt its tunnels
 * @throws QemuError `NETWORKS_UNAVAILABLE` if another host on this computer has the same names or the same port, or
 * also encrypts its tunnels
 */
export async function claimNames(directory: string, port: number | null, encrypted = false): Promise<DeviceNames> {
  const tag = deriveTag(directory);
  const otherClaims = [...(await readClaims())].filter(([, claim]) => claim.directory !== directory);
  const createError = (reason: string) => new QemuError('NETWORKS_UNAVAILABLE', reason);
  for (const [otherTag, claim] of otherClaims) {
    if (otherTag === tag)
      throw createError(
        `another host program on this computer (machine directory ${claim.directory}) already uses the network device names that ${directory} needs: choose a different machine directory`,
      );
    if (port !== null && claim.port === port)
      throw createError(
        `another host program on this computer (machine directory ${claim.directory}) already uses UDP port ${port} for tunnels: choose a different port`,
      );
    if (encrypted && claim.encrypted)
      throw createError(
        `another host program on this computer (machine directory ${claim.directory}) already encrypts its tunnels: only one host program on each computer can do so`,
      );
  }
  await mkdir(CLAIMS_FOLDER, { recursive: true, mode: 0o755 });
  const claimFile = join(CLAIMS_FOLDER, tag);
  await writeFile(`${claimFile}.new`, `${directory}\n${port ?? ''}${encrypted ? ' encrypted' : ''}\n`, { mode: 0o600 });
  await rename(`${claimFile}.new`, claimFile);
  return new DeviceNames(tag);
}
