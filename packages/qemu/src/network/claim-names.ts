import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QemuError } from '../qemu-error.js';
import { DeviceNames, tagOf } from './device-names.js';

/** What hosts of this computer have said of themselves; gone with the next start of the computer, as devices are. */
const CLAIMS = '/run/apistrata/networks';

interface Claim {
  /** Where the host's machines are: it is known by that. */
  readonly directory: string;
  /** Where its tunnels begin; null: it has none. */
  readonly port: number | null;
}

async function claims(): Promise<ReadonlyMap<string, Claim>> {
  const found = new Map<string, Claim>();
  for (const tag of await readdir(CLAIMS).catch(() => [])) {
    const text = await readFile(join(CLAIMS, tag), 'utf8').catch(() => '');
    const [, directory = '', port = ''] = /^(\/.*)\n(\d*)\n$/.exec(text) ?? [];
    // What was made for a directory that is gone belongs to nobody.
    if (existsSync(directory)) found.set(tag, { directory, port: port === '' ? null : Number(port) });
  }
  return found;
}

/**
 * The names of a host's devices: the same ones whenever it is started, and other ones than those of other hosts on this computer.
 * @param port at which its tunnels begin; null: it has none
 * @throws QemuError `NETWORKS_UNAVAILABLE` where another host has the same names, or the same port
 */
export async function claimNames(directory: string, port: number | null): Promise<DeviceNames> {
  const tag = tagOf(directory);
  const others = [...(await claims())].filter(([, claim]) => claim.directory !== directory);
  const refuse = (why: string) => new QemuError('NETWORKS_UNAVAILABLE', why);
  for (const [theirs, claim] of others) {
    if (theirs === tag)
      throw refuse(
        `devices of the host in ${claim.directory} are called as those in ${directory} would be: take another directory`,
      );
    if (port !== null && claim.port === port)
      throw refuse(
        `the host in ${claim.directory}, on this computer too, has its tunnels at UDP port ${port}: give this one another port`,
      );
  }
  await mkdir(CLAIMS, { recursive: true, mode: 0o755 });
  const file = join(CLAIMS, tag);
  await writeFile(`${file}.new`, `${directory}\n${port ?? ''}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return new DeviceNames(tag);
}
