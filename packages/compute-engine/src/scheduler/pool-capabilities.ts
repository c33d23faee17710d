import { isTruthyString } from '../resources/extra-specs/is-truthy-string.js';
import { fulfills } from './capabilities.js';

/** The capabilities of a pool without data. */
const SIMULATED = {
  pool_name: 'pool',
  volume_backend_name: 'simulated',
  vendor_name: 'simulated',
  driver_version: '1.0.0',
  storage_protocol: 'local',
  total_capacity_gb: 'infinite' as string | number,
  free_capacity_gb: 'infinite' as string | number,
  reserved_percentage: 0,
  max_over_subscription_ratio: '20.0',
  thin_provisioning_support: true,
  thick_provisioning_support: false,
  multiattach: true,
  QoS_support: false,
};

/** The capabilities of a pool of volumes, as the volume API shows them. */
export type PoolCapabilities = typeof SIMULATED & { readonly host?: string };

/** Returns the capabilities of a pool, which extra specs of volume types can require. */
export function poolCapabilities(pool?: {
  readonly host: string | null;
  readonly backend: string;
  readonly totalGb: number;
  readonly freeGb: number;
}): PoolCapabilities {
  if (!pool) return SIMULATED;
  return {
    ...SIMULATED,
    volume_backend_name: pool.backend,
    vendor_name: 'Apistrata',
    total_capacity_gb: pool.totalGb,
    free_capacity_gb: pool.freeGb,
    ...(pool.host !== null && { host: pool.host }),
  };
}

function meetsRequirement(value: string | number | boolean, requirement: string): boolean {
  const [operator, operand] = requirement.trim().split(/\s+/);
  if (operator === '<is>') return operand !== undefined && isTruthyString(String(value)) === isTruthyString(operand);
  // A requirement without an operator is compared as a string, which never equals a boolean or number.
  return typeof value === 'string' || operand !== undefined ? fulfills(String(value), requirement) : false;
}

/**
 * Returns whether a pool meets the extra specs of a volume type. Extra specs with a scope other than `capabilities` are
 * for drivers.
 */
export function fulfillsSpecs(capabilities: PoolCapabilities, extraSpecs: Readonly<Record<string, string>>): boolean {
  return Object.entries(extraSpecs).every(([key, requirement]) => {
    if (!/^capabilities:|^[^:]*$/.test(key)) return true;
    const value = (capabilities as Readonly<Record<string, string | number | boolean>>)[
      key.replace('capabilities:', '')
    ];
    return value !== undefined && meetsRequirement(value, requirement);
  });
}
