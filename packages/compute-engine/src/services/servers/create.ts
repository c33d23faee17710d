import { randomBytes, randomUUID } from 'node:crypto';
import type { Image } from '../../catalogs/index.js';
import type { Context } from '../../context.js';
import type { Core } from '../../core.js';
import { badRequest, conflict, forbidden } from '../../errors.js';
import { recordAction } from '../../history/actions.js';
import type { BlockDevice, Flavor, FlavorCopy, Keypair, New, Server } from '../../model/index.js';
import { compoundKey, tables } from '../../store/tables.js';
import type { BuildArguments, RequestedPort } from '../../tasks/build.js';
import { hostnameOf } from './hostname.js';
import { checkServerQuota, limitsOf, overQuota } from './quota-check.js';

/** A request for servers, after the schema has been checked. Names as in the model. */
export interface NewServer {
  readonly name: string;
  readonly description?: string | null;
  readonly flavorId: string;
  /** Empty or left out: the server boots from a volume. */
  readonly imageId?: string;
  readonly keyName?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly tags?: readonly string[];
  readonly userData?: string | null;
  readonly configDrive?: boolean;
  readonly diskConfig?: 'AUTO' | 'MANUAL';
  readonly accessIpV4?: string;
  readonly accessIpV6?: string;
  readonly securityGroups?: readonly string[];
  /** `none`, `auto`, or what was asked for; left out: the only network there is. */
  readonly networks?:
    | 'none'
    | 'auto'
    | readonly {
        readonly networkId?: string;
        readonly portId?: string;
        readonly address?: string;
        readonly tag?: string;
      }[];
  readonly zone?: string;
  readonly hints?: Readonly<Record<string, unknown>>;
  readonly minCount?: number;
  readonly maxCount?: number;
  readonly hostname?: string;
  readonly adminPassword?: string;
  readonly files?: readonly { readonly path: string; readonly contents: string }[];
  readonly trustedCerts?: readonly string[] | null;
}

export interface CreatedServers {
  readonly servers: readonly Server[];
  readonly adminPassword: string;
  readonly reservationId: string;
}

const PASSWORD_LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

/** Twelve letters and digits that are not mistaken for each other. */
export function generatePassword(): string {
  return Array.from(randomBytes(12), (byte) => PASSWORD_LETTERS[byte % PASSWORD_LETTERS.length]).join('');
}

/** The flavor as a server keeps it. */
export function copyOf(flavor: Flavor): FlavorCopy {
  const { id, name, vcpus, memoryMb, diskGb, ephemeralGb, swapMb, extraSpecs } = flavor;
  return { id, name, vcpus, memoryMb, diskGb, ephemeralGb, swapMb, extraSpecs };
}

async function imageFor({ catalogs }: Core, { caller }: Context, id: string, flavor: Flavor): Promise<Image> {
  const image = await catalogs.images.get(caller, id).catch(() => undefined);
  if (!image) throw badRequest(`Image ${id} could not be found.`);
  if (image.status !== 'active') throw badRequest(`Image ${id} is not active.`);
  if (flavor.memoryMb < image.minRamMb) throw badRequest("Flavor's memory is too small for requested image.");
  if (flavor.diskGb > 0 && flavor.diskGb < image.minDiskGb) {
    throw badRequest(
      `Flavor's disk is smaller than the minimum size specified in image metadata. Flavor disk is ${flavor.diskGb}, minimum size is ${image.minDiskGb}.`,
    );
  }
  return image;
}

async function keypairFor(
  { store }: Core,
  { caller }: Context,
  name: string | undefined,
): Promise<Keypair | undefined> {
  if (name === undefined) return undefined;
  const keypair = await tables.keypairs.get(store, compoundKey(caller.userId, name));
  if (!keypair) throw badRequest('Invalid key_name provided.');
  return keypair;
}

async function portsFor(
  core: Core,
  { caller }: Context,
  networks: NewServer['networks'],
): Promise<readonly RequestedPort[]> {
  const { catalogs } = core;
  const port = (networkId: string): RequestedPort => ({ portId: randomUUID(), existing: false, networkId, tag: null });
  if (networks === 'none') return [];
  if (networks === 'auto') {
    const network = await catalogs.networks.autoNetwork(caller);
    return network ? [port(network.id)] : [];
  }
  if (networks === undefined || networks.length === 0) {
    const available = await catalogs.networks.availableNetworks(caller);
    if (available.length > 1) throw conflict('Multiple possible networks found, use a Network ID to be more specific.');
    return available.map(({ id }) => port(id));
  }
  return Promise.all(
    networks.map(async ({ networkId, portId, address, tag }): Promise<RequestedPort> => {
      if (portId) {
        const found = await catalogs.networks.getPort(caller, portId);
        if (found.deviceId) throw conflict(`Port ${portId} is still in use.`);
        return { portId, existing: true, networkId: found.networkId, tag: tag ?? null };
      }
      const network = await catalogs.networks.getNetwork(caller, networkId!).catch(() => undefined);
      if (!network) throw badRequest(`Network ${networkId} could not be found.`);
      await catalogs.networks.checkAddresses(caller, network.id, address ? [address] : undefined);
      return { ...port(network.id), addresses: address ? [address] : undefined, tag: tag ?? null };
    }),
  );
}

function rootDevice(image: Image | undefined): readonly BlockDevice[] {
  if (!image) return [];
  return [
    {
      id: randomUUID(),
      device: '/dev/vda',
      source: 'image',
      destination: 'local',
      bootIndex: 0,
      volumeId: null,
      sourceId: image.id,
      sizeGb: null,
      volumeType: null,
      deleteOnTermination: true,
      tag: null,
      diskBus: null,
      deviceType: null,
      guestFormat: null,
      attachmentId: null,
      attachedAt: null,
    },
  ];
}

async function checkCounts(core: Core, { caller }: Context, wanted: NewServer): Promise<void> {
  const limits = await limitsOf(core, core.store, caller.projectId, caller.userId);
  const items = Object.keys(wanted.metadata ?? {}).length;
  if (limits.metadata_items >= 0 && items > limits.metadata_items) {
    throw overQuota([{ kind: 'metadata_items', requested: items, used: 0, limit: limits.metadata_items }]);
  }
}

/** Checks a request for servers and writes them down, with their history and their jobs, in one transaction. */
export async function createServers(core: Core, context: Context, wanted: NewServer): Promise<CreatedServers> {
  const { store, clock, settings } = core;
  const { caller } = context;
  const flavor = await tables.flavors.get(store, wanted.flavorId);
  if (!flavor || flavor.disabled) throw badRequest(`Flavor ${wanted.flavorId} could not be found.`);
  if (!wanted.imageId) throw badRequest('Invalid imageRef provided.');
  const image = await imageFor(core, context, wanted.imageId, flavor);
  if (flavor.diskGb === 0 && !context.isAdmin)
    throw forbidden('Only volume-backed servers are allowed for flavors with zero disk.');
  const keypair = await keypairFor(core, context, wanted.keyName);
  await checkCounts(core, context, wanted);
  const { hosts } = await core.infrastructure.hosts();
  const [zone, host] = (wanted.zone ?? settings.defaultScheduleZone ?? '').split(':');
  if (zone && ![...hosts.values()].some((h) => h.zone === zone))
    throw badRequest('The requested availability zone is not available');
  const minCount = wanted.minCount ?? 1;
  const maxCount = wanted.maxCount ?? minCount;
  if (minCount > maxCount) throw badRequest('min_count must be <= max_count');
  const requestedPorts = await portsFor(core, context, wanted.networks);

  const reservationId = `r-${randomBytes(6)
    .toString('base64url')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '0')
    .slice(0, 8)}`;
  const adminPassword = wanted.adminPassword ?? generatePassword();
  const now = clock.now();

  const record = (index: number): New<Server> => {
    const id = randomUUID();
    const name = maxCount > 1 ? `${wanted.name}-${index + 1}` : wanted.name;
    const hostname = wanted.hostname
      ? maxCount > 1
        ? `${wanted.hostname}-${index + 1}`
        : wanted.hostname
      : hostnameOf(name, id);
    return {
      id,
      projectId: caller.projectId,
      userId: caller.userId,
      name,
      description: wanted.description === undefined ? null : wanted.description,
      hostname,
      vmState: 'building',
      taskState: 'scheduling',
      powerState: 0,
      progress: 0,
      deleted: false,
      fault: null,
      jobId: randomUUID(),
      flavor: copyOf(flavor),
      oldFlavor: null,
      imageId: image.id,
      imageProperties: image.properties,
      kernelId: image.properties.kernel_id ?? '',
      ramdiskId: image.properties.ramdisk_id ?? '',
      rootDeviceName: '/dev/vda',
      keyName: keypair?.name ?? null,
      keyData: keypair?.publicKey ?? null,
      userData: wanted.userData ?? null,
      configDrive: wanted.configDrive ?? false,
      diskConfig: wanted.diskConfig ?? 'MANUAL',
      accessIpV4: wanted.accessIpV4 ?? '',
      accessIpV6: wanted.accessIpV6 ?? '',
      metadata: wanted.metadata ?? {},
      tags: wanted.tags ?? [],
      trustedCerts: wanted.trustedCerts ?? null,
      securityGroups: wanted.securityGroups ?? ['default'],
      interfaces: [],
      blockDevices: rootDevice(image),
      shares: [],
      host: null,
      node: null,
      claims: [],
      pinnedZone: zone || null,
      schedulerHints: wanted.hints ?? {},
      groupId: null,
      reservationId,
      launchIndex: index,
      lock: null,
      guestPassword: '',
      shelvedImageId: null,
      wasRunning: true,
      createdAt: now,
      updatedAt: null,
      launchedAt: null,
      terminatedAt: null,
    };
  };

  const servers = await store.transaction(async (tx) => {
    await checkServerQuota(core, tx, context, {
      instances: maxCount,
      cores: maxCount * flavor.vcpus,
      ram: maxCount * flavor.memoryMb,
    });
    const made: Server[] = [];
    for (let index = 0; index < maxCount; index++) {
      const server = await tables.servers.insert(tx, record(index));
      await recordAction(tx, context, server, 'create', now);
      const ports = index === 0 ? requestedPorts : requestedPorts.map((port) => ({ ...port, portId: randomUUID() }));
      const args: BuildArguments = { ports, adminPassword, files: wanted.files ?? [], host };
      await core.worker.add(tx, {
        id: server.jobId!,
        kind: 'create',
        serverId: server.id,
        payload: { context, arguments: args as unknown as Record<string, unknown> },
      });
      made.push(server);
    }
    return made;
  });
  return { servers, adminPassword, reservationId };
}
