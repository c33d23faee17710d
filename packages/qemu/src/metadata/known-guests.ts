import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Server } from '@apistrata/compute-engine';
import type { NetworkPlan } from '@apistrata/compute-engine/drivers';
import type { GuestInterface } from '../guest/guest-networks.js';
import type { GuestMetadata } from '../guest/meta-data.js';
import type { MachineFolder } from '../machine/machine-folder.js';
import type { DeviceNames } from '../network/device-names.js';
import type { MachineFolders } from '../network/network-mode.js';
import type { MetadataGuest } from './metadata-service.js';

/** Stores a guest's metadata for the metadata service. Only the config drive contains passwords and injected files. */
export async function storeMetadata(
  folder: MachineFolder,
  server: Server,
  interfaces: readonly GuestInterface[],
): Promise<void> {
  const metadata: GuestMetadata = { server, interfaces, secrets: { adminPassword: null, files: [] } };
  const path = folder.file('metadata');
  await writeFile(`${path}.new`, JSON.stringify(metadata), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** Returns the guest with the given IP address in the network to which the given namespace belongs. */
export async function findGuest(
  { networks, ports, routers }: NetworkPlan,
  names: DeviceNames,
  folders: MachineFolders,
  namespace: string,
  address: string,
): Promise<MetadataGuest | undefined> {
  const network = networks.find(({ id }) => names.service(id) === namespace);
  const port = ports.find(
    ({ networkId, addresses }) => networkId === network?.id && addresses.some((one) => one.address === address),
  );
  if (!port) return undefined;
  const metadataJson = await readFile(folders.folderOf(port.serverId).file('metadata'), 'utf8').catch(() => undefined);
  if (metadataJson === undefined) return undefined;
  const attachedRouters = routers.filter(({ interfaces }) =>
    interfaces.some(({ networkId }) => networkId === port.networkId),
  );
  const floatingIp = attachedRouters
    .flatMap((router) => router.floating)
    .find(({ fixedAddress }) => fixedAddress === address);
  return { metadata: JSON.parse(metadataJson), floating: floatingIp?.address };
}
