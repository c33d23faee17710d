import { fulfills } from '@apistrata/compute-engine/api';
import type { VolumeType } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import { flag } from '../service/wire-types.js';
import { acceptsVolumes, BACKEND_HOST } from './host-routes.js';

/** The name of the pool that stores all volumes, in the format `host@backend#pool`. */
export const POOL = `${BACKEND_HOST}#pool`;

/** The capabilities of the pool, which extra specs of volume types can require. */
export const CAPABILITIES = {
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
} as const;

type Capability = (typeof CAPABILITIES)[keyof typeof CAPABILITIES];

const isTrue = (written: string): boolean => flag.safeParse(written.toLowerCase()).data === true;

function meetsRequirement(value: Capability, requirement: string): boolean {
  const [operator, operand] = requirement.trim().split(/\s+/);
  if (operator === '<is>') return operand !== undefined && isTrue(String(value)) === isTrue(operand);
  // A requirement without an operator is compared as a string, which never equals a boolean or number.
  return typeof value === 'string' || operand !== undefined ? fulfills(String(value), requirement) : false;
}

/** Returns whether the pool meets extra specs. Specs with a scope other than `capabilities` are for drivers. */
function meetsExtraSpecs(extraSpecs: VolumeType['extraSpecs']): boolean {
  return Object.entries(extraSpecs).every(([key, requirement]) => {
    const [first = '', ...rest] = key.split(':');
    if (rest.length > 0 && first !== 'capabilities') return true;
    const name = rest.length > 0 ? rest.join(':') : first;
    return (
      Object.hasOwn(CAPABILITIES, name) &&
      meetsRequirement(CAPABILITIES[name as keyof typeof CAPABILITIES], requirement)
    );
  });
}

/** Returns whether the scheduler finds a pool for a volume of this type. */
export const hasPoolFor = (call: Call, type: VolumeType | null): boolean =>
  acceptsVolumes(call) && meetsExtraSpecs(type?.extraSpecs ?? {});
