import { fulfillsSpecs, type PoolCapabilities, poolCapabilities } from '@apistrata/compute-engine/api';
import type { VolumeType } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';

/** A pool that stores volumes. */
export interface Pool {
  /** The computer that stores the volumes; null for the process that serves the API. */
  readonly host: string | null;
  /** The name of the host and backend, in the format `host@backend`. */
  readonly backend: string;
  readonly zone: string;
  readonly up: boolean;
  readonly capabilities: PoolCapabilities;
}

/** Returns the name of the backend that stores the volumes of a host. */
export const backendOf = (host: string | null): string => (host === null ? 'volumes@simulated' : `${host}@volumes`);

/** Returns the name of a host's pool, in the format `host@backend#pool`. */
export const poolNameOf = (host: string | null): string => `${backendOf(host)}#pool`;

/** Returns all pools, including those of hosts that are down. */
export async function listPools({ cloud }: Call): Promise<readonly Pool[]> {
  const pools = await cloud.catalogs.volumes.storagePools();
  if (pools.length === 0)
    return [{ host: null, backend: backendOf(null), zone: 'nova', up: true, capabilities: poolCapabilities() }];
  return pools.map((pool) => {
    const { host, zone, up } = pool;
    return { host, backend: backendOf(host), zone, up, capabilities: poolCapabilities(pool) };
  });
}

/** The settings of a service process, which administrators can change. */
export interface Setting {
  readonly disabled?: boolean;
  readonly reason?: string | null;
  readonly frozen?: boolean;
}

export const VOLUME_SERVICE = 'cinder-volume';

export const settings = ({ cloud }: Call) => cloud.documents.table<Setting>('volume/services');

export const settingOf = (call: Call, binary: string, host: string): Setting =>
  settings(call).get(`${binary}/${host}`) ?? {};

/** Returns whether the `cinder-volume` of a pool, which stores volumes, is enabled. */
export const acceptsVolumes = (call: Call, { backend }: Pool): boolean =>
  settingOf(call, VOLUME_SERVICE, backend).disabled !== true;

/** Returns the pool with this backend; undefined if there is none. A pool name is also accepted. */
export const findPool = async (call: Call, backend: string): Promise<Pool | undefined> =>
  (await listPools(call)).find((pool) => pool.backend === backend.split('#', 1)[0]);

/** Returns the pools in which the scheduler can create volumes of this type. */
export async function poolsFor(call: Call, type: VolumeType | null): Promise<readonly Pool[]> {
  const pools = await listPools(call);
  return pools.filter(
    (pool) => pool.up && acceptsVolumes(call, pool) && fulfillsSpecs(pool.capabilities, type?.extraSpecs ?? {}),
  );
}
