import { fulfills } from '@apistrata/compute-engine/api';
import type { VolumeType } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import { flag } from '../service/wire-types.js';
import { acceptsVolumes, BACKEND_HOST } from './host-routes.js';

/** The name of the pool that stores all volumes, in the format `host@backend#pool`. */
export const POOL = `${BACKEND_HOST}#pool`;

/** The capabilities of a pool without data. */
const SIMULATED = {
  pool_name: 'pool',
  volume_backend_name: 'simulated',
  vendor_name: 'simulated',
  driver_version: '1.0.0',
  storage_protocol: 'local',
  total_capacity_gb: 'infinite',
  free_capacity_gb: 'infinite',
  reserved_percentage: 0,
  max_over_subscription_ratio: '20.0',
  thin_provisioning_support: true,
  thick_provisioning_support: false,
  multiattach: true,
  QoS_support: false,
};

type Capability = string | number | boolean;

const toGib = (bytes: number) => Math.floor(bytes / 2 ** 30);

/** Returns the capabilities of the pool, which extra specs of volume types can require. */
export async function poolCapabilities({ cloud }: Call) {
  const usage = await cloud.catalogs.volumes.storageUsage();
  if (!usage) return SIMULATED;
  return {
    ...SIMULATED,
    volume_backend_name: usage.backend,
    vendor_name: 'Apistrata',
    total_capacity_gb: toGib(usage.totalBytes),
    free_capacity_gb: toGib(usage.freeBytes),
  };
}

const isTrue = (written: string): boolean => flag.safeParse(written.toLowerCase()).data === true;

function meetsRequirement(value: Capability, requirement: string): boolean {
  const [operator, operand] = requirement.trim().split(/\s+/);
  if (operator === '<is>') return operand !== undefined && isTrue(String(value)) === isTrue(operand);
  // A requirement without an operator is compared as a string, which never equals a boolean or number.
  return typeof value === 'string' || operand !== undefined ? fulfills(String(value), requirement) : false;
}

/**
 * Returns whether the scheduler finds a pool for a volume of this type. Extra specs with a scope other than
 * `capabilities` are for drivers.
 */
export async function hasPoolFor(call: Call, type: VolumeType | null): Promise<boolean> {
  if (!acceptsVolumes(call)) return false;
  const requirements = Object.entries(type?.extraSpecs ?? {}).filter(([key]) => /^capabilities:|^[^:]*$/.test(key));
  if (requirements.length === 0) return true;
  const capabilities = new Map<string, Capability>(Object.entries(await poolCapabilities(call)));
  return requirements.every(([key, requirement]) => {
    const value = capabilities.get(key.replace('capabilities:', ''));
    return value !== undefined && meetsRequirement(value, requirement);
  });
}
