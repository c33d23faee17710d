import { defaultPreset, type Preset, type Settings } from '@apistrata/compute-engine';
import { type Rule, SimulatedDriver, type SimulatedDriverOptions } from '@apistrata/compute-engine/drivers';
import { ManualClock } from '@apistrata/compute-engine/testing';
import { type Api, apiUnderTest, type Client, ids } from '../api-under-test.js';

/** Images in addition to the one in the preset. */
export const images = {
  other: '11111111-1111-4111-8111-111111111111',
  large: '22222222-2222-4222-8222-222222222222',
  queued: '33333333-3333-4333-8333-333333333333',
  rescue: '44444444-4444-4444-8444-444444444444',
} as const;

const host = (name: string, zone: string) => ({ name, zone, vcpus: 64, memoryMb: 262_144, diskGb: 4096 });

/** Two zones with two hosts each, and images of several kinds. */
const preset: Preset = {
  ...defaultPreset,
  hosts: [host('a1', 'alpha'), host('a2', 'alpha'), host('b1', 'beta'), host('b2', 'beta')],
  flavors: [
    ...defaultPreset.flavors!,
    { id: 'diskless', name: 'diskless', vcpus: 1, memoryMb: 512, diskGb: 0 },
    { id: 'gone', name: 'gone', vcpus: 1, memoryMb: 512, diskGb: 1, disabled: true },
  ],
  images: [
    ...defaultPreset.images!,
    { id: images.other, name: 'other', properties: { os_distro: 'other' } },
    { id: images.large, name: 'large', minRamMb: 4096, minDiskGb: 50 },
    { id: images.queued, name: 'queued', status: 'queued' },
    { id: images.rescue, name: 'rescue', properties: { hw_rescue_bus: 'usb', hw_rescue_device: 'disk' } },
  ],
};

export interface Stage {
  readonly api: Api;
  readonly driver: SimulatedDriver;
  readonly clock: ManualClock;
  /** Returns a member's client at a version. */
  ada(version?: string): Client;
  admin(version?: string): Client;
  /** Marks a host as down or as up. */
  setDown(host: string, down: boolean): Promise<void>;
  /** Creates a server whose root disk is a volume created from the image. */
  bootFromVolume(fields?: Record<string, unknown>): Promise<any>;
  /** Polls until a condition is met, while background jobs run. */
  until<T>(look: () => Promise<T>, seen: (value: T) => boolean): Promise<T>;
}

export interface StageOptions {
  readonly settings?: Partial<Settings>;
  readonly driver?: Omit<SimulatedDriverOptions, 'clock'>;
  readonly rules?: readonly Rule[];
}

/** Starts an API whose clock and machines the test controls. */
export async function stage({ settings, driver: driverOptions, rules }: StageOptions = {}): Promise<Stage> {
  const clock = new ManualClock();
  const driver = new SimulatedDriver({ clock, rules, ...driverOptions });
  const quotas = { instances: -1, cores: -1, ram: -1, ...settings?.quotas } as Settings['quotas'];
  const api = await apiUnderTest({ preset, engine: { clock, driver, settings: { ...settings, quotas } } });
  return {
    api,
    driver,
    clock,
    ada: (version = '2.90') => api.as('ada:p1', version),
    admin: (version = '2.90') => api.as('admin:p1', version),
    setDown: async (name, down) => {
      const { services } = (await api.as('admin:p1', '2.53').get(`/os-services?host=${name}&binary=nova-compute`)).body;
      const changed = await api.as('admin:p1', '2.53').put(`/os-services/${services[0].id}`, { forced_down: down });
      if (changed.status !== 200) throw new Error(JSON.stringify(changed.body));
    },
    bootFromVolume: async (fields = {}) => {
      const root = {
        boot_index: 0,
        uuid: ids.image,
        source_type: 'image',
        destination_type: 'volume',
        volume_size: 10,
        delete_on_termination: true,
      };
      const server = { name: 'web', flavorRef: ids.tiny, networks: 'none', block_device_mapping_v2: [root], ...fields };
      const created = await api.as('ada:p1', '2.37').post('/servers', { server });
      if (created.status !== 202) throw new Error(JSON.stringify(created.body));
      await api.idle();
      return (await api.as('ada:p1', '2.90').get(`/servers/${created.body.server.id}`)).body.server;
    },
    until: async (look, seen) => {
      for (let attempt = 0; attempt < 500; attempt++) {
        const value = await look();
        if (seen(value)) return value;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      throw new Error('what the test waits for was never seen');
    },
  };
}

/** Returns the server's fields, as an administrator sees them. */
export async function show(stage: Stage, id: string, version = '2.98'): Promise<any> {
  return (await stage.admin(version).get(`/servers/${id}`)).body.server;
}

/** Returns the names and messages of a server's actions, newest first. */
export async function historyOf(stage: Stage, id: string): Promise<readonly (readonly [string, string | null])[]> {
  const { instanceActions } = (await stage.admin().get(`/servers/${id}/os-instance-actions`)).body;
  return instanceActions.map(({ action, message }: any) => [action, message]);
}
