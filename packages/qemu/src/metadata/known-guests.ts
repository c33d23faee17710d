import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Server } from '@apistrata/compute-engine';
import type { NetworkPlan } from '@apistrata/compute-engine/drivers';
import type { GuestInterface } from '../guest/guest-networks.js';
import type { GuestStory } from '../guest/meta-data.js';
import type { MachineFolder } from '../machine/machine-folder.js';
import type { DeviceNames } from '../network/device-names.js';
import type { MachinePlaces } from '../network/network-mode.js';
import type { MetadataGuest } from './metadata-service.js';

/** Keeps what a guest is told of itself. Passwords and injected files are on its config drive only. */
export async function keepStory(
  folder: MachineFolder,
  server: Server,
  interfaces: readonly GuestInterface[],
): Promise<void> {
  const story: GuestStory = { server, interfaces, secrets: { adminPassword: null, files: [] } };
  const path = folder.file('story');
  await writeFile(`${path}.new`, JSON.stringify(story), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** Who has an address in the network whose services are in that namespace. */
export async function guestAt(
  { networks, ports, routers }: NetworkPlan,
  names: DeviceNames,
  places: MachinePlaces,
  namespace: string,
  address: string,
): Promise<MetadataGuest | undefined> {
  const network = networks.find(({ id }) => names.service(id) === namespace);
  const port = ports.find(
    ({ networkId, addresses }) => networkId === network?.id && addresses.some((one) => one.address === address),
  );
  if (!port) return undefined;
  const text = await readFile(places.folderOf(port.serverId).file('story'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const ways = routers.filter(({ interfaces }) => interfaces.some(({ networkId }) => networkId === port.networkId));
  const floating = ways.flatMap((router) => router.floating).find(({ fixedAddress }) => fixedAddress === address);
  return { story: JSON.parse(text), floating: floating?.address };
}
