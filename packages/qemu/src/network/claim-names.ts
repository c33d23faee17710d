import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QemuError } from '../qemu-error.js';
import { DeviceNames, tagOf } from './device-names.js';

/**
 * The directory that contains the name claims of this computer's hosts. Claims, like devices, do not survive a reboot.
 */
const CLAIMS = '/run/apistrata/networks';

interface Claim {
  /** The directory of the claiming host's machines, which identifies the host. */
  readonly directory: string;
  /** The UDP port of the host's tunnels; null if it has no tunnels. */
  readonly port: number | null;
  /** Whether the host encrypts its tunnels. */
  readonly encrypted: boolean;
}

async function readClaims(): Promise<ReadonlyMap<string, Claim>> {
  const found = new Map<string, Claim>();
  for (const tag of await readdir(CLAIMS).catch(() => [])) {
    const text = await readFile(join(CLAIMS, tag), 'utf8').catch(() => '');
    const [, directory = '', port = '', encrypted] = /^(\/.*)\n(\d*)( encrypted)?\n$/.exec(text) ?? [];
    // If a host's directory no longer exists, its devices have no owner.
    if (existsSync(directory))
      found.set(tag, { directory, port: port === '' ? null : Number(port), encrypted: encrypted !== undefined });
  }
  return found;
}

/**
 * Reserves a host's network device names, which never change and differ from those of other hosts on this computer.
 *
 * @param port the UDP port of the host's tunnels; null if it has no tunnels
 * @param encrypted whether the tunnels are encrypted, which only one host on a computer can do
 * @throws QemuError `NETWORKS_UNAVAILABLE` if another host on this computer has the same names or the same port, or
 * also encrypts its tunnels
 */
export async function claimNames(directory: string, port: number | null, encrypted = false): Promise<DeviceNames> {
  const tag = tagOf(directory);
  const others = [...(await readClaims())].filter(([, claim]) => claim.directory !== directory);
  const reject = (reason: string) => new QemuError('NETWORKS_UNAVAILABLE', reason);
  for (const [otherName, claim] of others) {
    if (otherName === tag)
      throw reject(
        `the host in ${claim.directory} uses the network device names that ${directory} would need: use another directory`,
      );
    if (port !== null && claim.port === port)
      throw reject(
        `the host in ${claim.directory} on the same computer uses UDP port ${port} for its tunnels: set another port`,
      );
    if (encrypted && claim.encrypted)
      throw reject(
        `the host in ${claim.directory} on the same computer already encrypts its tunnels: only one host on each computer can do so`,
      );
  }
  await mkdir(CLAIMS, { recursive: true, mode: 0o755 });
  const file = join(CLAIMS, tag);
  await writeFile(`${file}.new`, `${directory}\n${port ?? ''}${encrypted ? ' encrypted' : ''}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return new DeviceNames(tag);
}
