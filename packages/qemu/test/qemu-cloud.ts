import { randomUUID } from 'node:crypto';
import { chmodSync, createReadStream, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Context,
  createEngine,
  type Engine,
  type EngineOptions,
  type Preset,
  type Server,
} from '@apistrata/compute-engine';
import type { NewServer } from '@apistrata/compute-engine/api';
import type { Driver } from '@apistrata/compute-engine/drivers';
import { eventually } from '../../../testing/eventually.js';
import { type QemuOptions, qemuDriver } from '../src/index.js';
import { buildBootCd, buildBootDisk } from './guest/boot-disk.js';
import { buildGuest, COMMAND_LINE, type Guest, type GuestOptions } from './guest/build-guest.js';
import { GuestLine } from './guest/guest-line.js';

export const IMAGE = '11111111-1111-4111-8111-111111111111';
export const KERNEL = '22222222-2222-4222-8222-222222222222';
export const RAMDISK = '33333333-3333-4333-8333-333333333333';
/** The test guest, in an image that declares a guest agent. */
export const AGENT_IMAGE = '66666666-6666-4666-8666-666666666666';
/** An image whose machines do not have the default devices. */
export const OLD_IMAGE = '77777777-7777-4777-8777-777777777777';
/** An image with the machine type q35. Its machines have their devices at PCI Express ports. */
export const Q35_IMAGE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
/** An image with nothing to boot. Its machines start immediately, and stay in the firmware. */
export const NOTHING = '88888888-8888-4888-8888-888888888888';
/** A disk image with a boot loader and without a separate kernel. */
export const BOOT_DISK = '99999999-9999-4999-8999-999999999999';
/** A CD image with the same content as the boot disk. */
export const BOOT_CD = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb';
export const NETWORK = '44444444-4444-4444-8444-444444444444';
export const SUBNET = '55555555-5555-4555-8555-555555555555';

type Images = NonNullable<Preset['images']>;

/** A shared network. */
export const guestNetworks: NonNullable<Preset['networks']> = [
  { id: NETWORK, name: 'private', subnets: [{ id: SUBNET, cidr: '10.0.0.0/16' }] },
];

/** The initial content of the cloud: an image of the test guest with a kernel, and a network. */
export function guestPreset({ kernel, ramdisk }: Guest, images: Images = []): Preset {
  const file = (path: string) => () => createReadStream(path);
  const properties = { kernel_id: KERNEL, ramdisk_id: RAMDISK, os_command_line: COMMAND_LINE };
  return {
    flavors: [
      { id: 'small', name: 'small', vcpus: 1, memoryMb: 160, diskGb: 1 },
      { id: 'large', name: 'large', vcpus: 2, memoryMb: 224, diskGb: 2 },
      { id: 'large-memory', name: 'large-memory', vcpus: 1, memoryMb: 512, diskGb: 1 },
      { id: 'tiny', name: 'tiny', vcpus: 1, memoryMb: 32, diskGb: 1 },
      { id: 'wide', name: 'wide', vcpus: 1, memoryMb: 40, diskGb: 2 },
    ],
    hosts: [{ name: 'here', vcpus: 16, memoryMb: 16_384, diskGb: 100 }],
    images: [
      { id: NOTHING, name: 'nothing', diskFormat: 'raw', content: Buffer.alloc(2 ** 20) },
      { id: KERNEL, name: 'kernel', diskFormat: 'aki', containerFormat: 'aki', content: file(kernel) },
      { id: RAMDISK, name: 'ramdisk', diskFormat: 'ari', containerFormat: 'ari', content: file(ramdisk) },
      { id: IMAGE, name: 'guest', diskFormat: 'raw', content: Buffer.alloc(2 ** 20), properties },
      {
        id: AGENT_IMAGE,
        name: 'guest with an agent',
        diskFormat: 'raw',
        content: Buffer.alloc(2 ** 20),
        properties: { ...properties, hw_qemu_guest_agent: 'yes', os_require_quiesce: 'yes' },
      },
      {
        id: OLD_IMAGE,
        name: 'guest of former days',
        diskFormat: 'raw',
        content: Buffer.alloc(2 ** 20),
        properties: { ...properties, hw_disk_bus: 'scsi', hw_vif_model: 'e1000', hw_video_model: 'cirrus' },
      },
      {
        id: Q35_IMAGE,
        name: 'guest on q35',
        diskFormat: 'raw',
        content: Buffer.alloc(2 ** 20),
        properties: { ...properties, hw_machine_type: 'q35' },
      },
      ...images,
    ],
    networks: guestNetworks,
  };
}

/** Creates a disk image of the test guest with a boot loader. */
export function bootDiskImage(folder: string, guest: Guest): Images {
  const disk = buildBootDisk(folder, guest);
  return [{ id: BOOT_DISK, name: 'boot disk', diskFormat: 'raw', content: () => createReadStream(disk) }];
}

/** Creates two images of the test guest with a boot loader: a disk and a CD. */
export function bootImages(folder: string, guest: Guest): Images {
  const cd = buildBootCd(folder, guest);
  return [
    ...bootDiskImage(folder, guest),
    { id: BOOT_CD, name: 'boot CD', diskFormat: 'iso', content: () => createReadStream(cd) },
  ];
}

/** Creates a folder that other users can traverse. */
export function machineDirectory(): string {
  const folder = mkdtempSync(join(tmpdir(), 'aq-'));
  chmodSync(folder, 0o711);
  return folder;
}

export const ada: Context = {
  caller: { userId: 'ada', projectId: 'p-ada', roles: ['member'] },
  requestId: `req-${randomUUID()}`,
  isAdmin: false,
};

/** An engine whose servers are QEMU virtual machines. */
export class QemuCloud {
  readonly directory: string;
  readonly #preset: Preset;
  readonly #options: Partial<QemuOptions>;
  readonly #engineOptions: EngineOptions;
  readonly #lines = new Map<string, GuestLine>();
  engine!: Engine;
  driver!: Driver;

  private constructor(directory: string, preset: Preset, options: Partial<QemuOptions>, engineOptions: EngineOptions) {
    this.directory = directory;
    this.#preset = preset;
    this.#options = options;
    this.#engineOptions = engineOptions;
  }

  static async open(
    options: Partial<QemuOptions> = {},
    engineOptions: EngineOptions = {},
    { images = () => [], ...guest }: GuestOptions & { readonly images?: (folder: string, guest: Guest) => Images } = {},
  ): Promise<QemuCloud> {
    const directory = machineDirectory();
    const built = buildGuest(directory, guest);
    const preset = guestPreset(built, images(directory, built));
    const cloud = new QemuCloud(directory, preset, options, engineOptions);
    await cloud.begin();
    return cloud;
  }

  get machines(): string {
    return join(this.directory, 'qemu', 'machines');
  }

  /** Opens the engine, for the first time or after it was closed. */
  async begin(): Promise<void> {
    const openDriver = qemuDriver({
      directory: join(this.directory, 'qemu'),
      acceleration: 'tcg',
      shutdownTimeoutMs: 30_000,
      ...this.#options,
    });
    this.engine = await createEngine({
      ...this.#engineOptions,
      database: join(this.directory, 'cloud.db'),
      preset: this.#preset,
      driver: async (clock, services) => {
        this.driver = await openDriver(clock, services);
        return this.driver;
      },
      onError: (error) => console.error(error),
    });
  }

  async create(fields: Partial<NewServer> = {}): Promise<Server> {
    const newServer = {
      name: 'guest',
      flavorId: 'small',
      imageId: IMAGE,
      networks: [{ networkId: NETWORK }],
      ...fields,
    };
    const { servers } = await this.engine.servers.create(ada, newServer);
    return this.settled(servers[0]!.id);
  }

  /** Returns the server after all background jobs have ended. */
  async settled(id: string): Promise<Server> {
    await this.engine.idle();
    const server = await this.engine.servers.get(ada, id);
    if (server.fault) throw new Error(`${server.fault.message} ${server.fault.details}`);
    return server;
  }

  /** Returns the server after an action and its background jobs have ended. */
  async done(id: string, started: Promise<unknown>): Promise<Server> {
    await started;
    return this.settled(id);
  }

  /** Returns the console output as soon as it contains the expected text. */
  async console(id: string, pattern: RegExp, timeout = 90_000): Promise<string> {
    return eventually(
      async () => {
        const text = await this.engine.consoles.output(ada, await this.engine.servers.get(ada, id));
        if (!pattern.test(text)) throw new Error(`the console does not show ${pattern}:\n${text.slice(-2_000)}`);
        return text;
      },
      { timeout, interval: 200 },
    );
  }

  /** Opens the serial line of a guest that has booted. */
  async line(id: string): Promise<GuestLine> {
    this.#lines.get(id)?.close();
    const line = await GuestLine.open(join(this.machines, id, 'serial'));
    this.#lines.set(id, line);
    return line;
  }

  /** Returns the names of the existing machine folders. */
  folders(): readonly string[] {
    return readdirSync(this.machines);
  }

  /** Ends all machines, and removes all files. */
  async close(): Promise<void> {
    for (const line of this.#lines.values()) line.close();
    for (const { id } of await this.engine.servers.list(ada, { limit: 100 })) await this.engine.servers.delete(ada, id);
    await this.engine.idle();
    await this.engine.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
