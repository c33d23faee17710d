import { badRequest } from '../../errors/rejection.js';
import { firstCpus, isSubset, parseCpuMask } from './cpu-set.js';
import { isTruthyString } from './is-truthy-string.js';
import {
  checkImageValue,
  formatAllowed,
  isInteger,
  type OptionSources,
  parseFlavorInteger,
  parseImageInteger,
  requestedValuesOf,
} from './requested-options.js';

const CPU_POLICIES = ['dedicated', 'shared', 'mixed'];
const THREAD_POLICIES = ['prefer', 'isolate', 'require'];
const EMULATOR_POLICIES = ['share', 'isolate'];

/** The CPU policies and dedicated CPUs of a server. */
export interface CpuOptions {
  readonly policy: string | undefined;
  readonly threadPolicy: string | undefined;
  readonly dedicated: ReadonlySet<number>;
}

/** Throws 400 if the number of serial ports is not an integer, or if the image requests more ports than the flavor. */
export function checkSerialPorts(sources: OptionSources): void {
  const { flavorValue, imageValue } = requestedValuesOf(sources, 'serial_port_count');
  if (flavorValue && !isInteger(flavorValue))
    throw badRequest(
      `Number of serial ports specified in flavor is invalid: expected an integer, got '${flavorValue}'`,
    );
  const [max, expected] = [Number(flavorValue ?? 0), parseImageInteger(imageValue)];
  if (max && expected > max)
    throw badRequest('Forbidden to exceed flavor value of number of serial ports passed in image meta.');
}

const TOPOLOGY_PARTS = ['sockets', 'cores', 'threads'] as const;
const UNLIMITED_CPUS = 65_536;

/** Throws 400 if a requested CPU topology has invalid numbers or exceeds its limits. */
export function checkCpuTopology(sources: OptionSources): void {
  const amounts = (prefix: string) =>
    TOPOLOGY_PARTS.map((part) => {
      const { flavorValue, imageValue } = requestedValuesOf(sources, `${prefix}${part}`);
      return { flavor: parseFlavorInteger(flavorValue), image: parseImageInteger(imageValue) };
    });
  const formatParts = (values: readonly number[]) =>
    TOPOLOGY_PARTS.map((part, index) => `${part}=${values[index]}`).join(', ');
  const limits = amounts('cpu_max_');
  if (limits.some(({ flavor, image }) => flavor && image > flavor))
    throw badRequest(
      `Image vCPU topology limits (${formatParts(limits.map(({ image }) => image))}) exceeds the limits of the flavor (${formatParts(limits.map(({ flavor }) => flavor))})`,
    );
  const max = limits.map(({ flavor, image }) => image || flavor || UNLIMITED_CPUS);
  const expected = amounts('cpu_').map(({ image }) => image);
  if (expected.some((amount, index) => amount > (max[index] ?? UNLIMITED_CPUS)))
    throw badRequest(
      `Image vCPU topology (${formatParts(expected)}) exceeds the limits of the flavor or image (${formatParts(max)})`,
    );
}

function policyOf(sources: OptionSources): string | undefined {
  const { flavorValue, imageValue } = requestedValuesOf(sources, 'cpu_policy');
  checkImageValue(imageValue, CPU_POLICIES);
  if (flavorValue && !CPU_POLICIES.includes(flavorValue))
    throw badRequest(
      `CPU policy requested from 'flavor extra specs' is invalid, given: '${flavorValue}', available: '${formatAllowed(CPU_POLICIES)}'.`,
    );
  const forbiddenImagePolicies =
    flavorValue === 'mixed' ? ['dedicated'] : flavorValue === 'shared' ? ['mixed', 'dedicated'] : [];
  if (imageValue && forbiddenImagePolicies.includes(imageValue))
    throw badRequest(
      "Image property 'hw_cpu_policy' is not permitted to override CPU pinning policy set against the flavor",
    );
  return flavorValue || imageValue;
}

function threadPolicyOf(sources: OptionSources): string | undefined {
  const { flavorValue, imageValue } = requestedValuesOf(sources, 'cpu_thread_policy');
  checkImageValue(imageValue, THREAD_POLICIES);
  if (flavorValue && !THREAD_POLICIES.includes(flavorValue))
    throw badRequest(
      `CPU thread policy requested from 'flavor extra specs' is invalid, given: '${flavorValue}', available: '${formatAllowed(THREAD_POLICIES)}'.`,
    );
  if (flavorValue === undefined || flavorValue === 'prefer') return flavorValue ?? imageValue;
  if (imageValue && imageValue !== flavorValue)
    throw badRequest(
      "Image property 'hw_cpu_thread_policy' is not permitted to override CPU thread pinning policy set against the flavor",
    );
  return flavorValue;
}

function emulatorPolicyOf({ flavor }: OptionSources): string | undefined {
  const policy = flavor.extraSpecs['hw:emulator_threads_policy'];
  if (policy && !EMULATOR_POLICIES.includes(policy))
    throw badRequest(
      `CPU emulator threads option requested is invalid, given: '${policy}', available: '${formatAllowed(EMULATOR_POLICIES)}'.`,
    );
  return policy;
}

/**
 * Returns a server's realtime CPUs, or undefined if none are requested. Throws 400 if the mask leaves no CPU for the
 * emulator.
 */
export function realtimeCpusOf(sources: OptionSources): ReadonlySet<number> | undefined {
  const { flavor } = sources;
  if (!isTruthyString(flavor.extraSpecs['hw:cpu_realtime'])) return undefined;
  const { flavorValue, imageValue } = requestedValuesOf(sources, 'cpu_realtime_mask');
  const mask = imageValue || flavorValue;
  const all = firstCpus(flavor.vcpus);
  const realtimeCpus = mask ? parseCpuMask(mask, flavor.vcpus) : all;
  const isAll = realtimeCpus.size === all.size && isSubset(realtimeCpus, all);
  if (realtimeCpus.size === 0 || (isAll && !emulatorPolicyOf(sources)))
    throw badRequest(
      'Use of realtime CPUs requires either one or more non-realtime CPU(s) or offloaded emulator threads.',
    );
  if (!isSubset(realtimeCpus, all))
    throw badRequest(
      'Realtime policy vCPU(s) mask is configured with RT vCPUs that are not a subset of the vCPUs in the flavor. See hw:cpu_realtime_mask or hw_cpu_realtime_mask',
    );
  return realtimeCpus;
}

function dedicatedMaskOf({ flavor }: OptionSources): ReadonlySet<number> | undefined {
  const mask = flavor.extraSpecs['hw:cpu_dedicated_mask'];
  if (!mask) return undefined;
  const all = firstCpus(flavor.vcpus);
  const dedicated = parseCpuMask(mask, flavor.vcpus);
  if (dedicated.size === 0 || [...all].every((cpu) => dedicated.has(cpu)))
    throw badRequest(
      "Mixed instance must have at least 1 pinned vCPU and 1 unpinned vCPU. See 'hw:cpu_dedicated_mask'.",
    );
  if (!isSubset(dedicated, all))
    throw badRequest(
      'Mixed instance dedicated vCPU(s) mask is not a subset of vCPUs in the flavor. See "hw:cpu_dedicated_mask"',
    );
  return dedicated;
}

/** Returns the number of CPUs of a resource class that a flavor requests in all request groups together. */
function sumRequestedCpus({ flavor }: OptionSources, name: 'VCPU' | 'PCPU'): number {
  const key = new RegExp(`^resources([1-9][0-9]*)?:${name}`);
  return Object.entries(flavor.extraSpecs)
    .filter(([spec, amount]) => key.test(spec) && isInteger(amount))
    .reduce((sum, [, amount]) => sum + Number(amount), 0);
}

/**
 * Returns the CPU policy that a flavor's requests for VCPU and PCPU resources imply, or the given policy if the flavor
 * does not request them. Throws 400 if the requests conflict with each other or with the given policy.
 */
function derivePolicy(
  sources: OptionSources,
  policy: string | undefined,
  emulator: string | undefined,
): string | undefined {
  const [vcpus, pcpus] = [sumRequestedCpus(sources, 'VCPU'), sumRequestedCpus(sources, 'PCPU')];
  if (policy && (vcpus || pcpus))
    throw badRequest(
      "It is not possible to use the 'resources:VCPU' or 'resources:PCPU' extra specs in combination with the 'hw:cpu_policy' extra spec or 'hw_cpu_policy' image metadata property; use one or the other",
    );
  if (vcpus && pcpus)
    throw badRequest(
      "It is not possible to specify both 'resources:VCPU' and 'resources:PCPU' extra specs; use one or the other",
    );
  if (!pcpus) return vcpus ? 'shared' : policy;
  if (emulator === 'isolate' && sources.flavor.vcpus + 1 !== pcpus)
    throw badRequest(
      "You have requested 'hw:emulator_threads_policy=isolate' but have not requested sufficient PCPUs to handle this policy; you must allocate exactly flavor.vcpus + 1 PCPUs.",
    );
  if (emulator !== 'isolate' && sources.flavor.vcpus !== pcpus)
    throw badRequest(
      "There is a mismatch between the number of PCPUs requested via 'resourcesNN:PCPU' and the flavor); you must allocate exactly flavor.vcpus PCPUs",
    );
  return 'dedicated';
}

const HYPERTHREADING_SPEC = /^trait([1-9][0-9]*)?:HW_CPU_HYPERTHREADING/;

function hyperthreadingOf({ flavor, image }: OptionSources): string | undefined {
  const trait = Object.entries(flavor.extraSpecs).find(([spec]) => HYPERTHREADING_SPEC.test(spec))?.[1];
  return trait ?? (image.properties['trait:HW_CPU_HYPERTHREADING'] === 'required' ? 'required' : undefined);
}

/** Returns the CPU policies that a flavor and an image request. Throws 400 for invalid combinations. */
export function cpuOptionsOf(sources: OptionSources): CpuOptions {
  const explicitPolicy = policyOf(sources);
  const explicitThreadPolicy = threadPolicyOf(sources);
  const realtimeCpus = realtimeCpusOf(sources);
  const mask = dedicatedMaskOf(sources);
  const emulator = emulatorPolicyOf(sources);
  const policy = derivePolicy(sources, explicitPolicy, emulator);
  const hyperthreading = hyperthreadingOf(sources);
  if (explicitThreadPolicy && hyperthreading)
    throw badRequest(
      "It is not possible to use the 'trait:HW_CPU_HYPERTHREADING' extra spec in combination with the 'hw:cpu_thread_policy' extra spec or 'hw_cpu_thread_policy' image metadata property; use one or the other",
    );
  const threadPolicy =
    hyperthreading === 'forbidden' ? 'isolate' : hyperthreading === 'required' ? 'require' : explicitThreadPolicy;
  if (policy === undefined || policy === 'shared') {
    if (threadPolicy) throw badRequest('Cannot set cpu thread pinning policy in a non dedicated cpu pinning policy');
    if (emulator === 'isolate')
      throw badRequest('An isolated CPU emulator threads option requires a dedicated CPU policy option.');
    if (mask) throw badRequest("Cannot specify 'hw:cpu_dedicated_mask' without the 'mixed' policy.");
    if (realtimeCpus) throw badRequest('Cannot set realtime policy in a non dedicated cpu pinning policy');
    return { policy, threadPolicy, dedicated: new Set() };
  }
  if (policy === 'dedicated') {
    if (mask) throw badRequest("Cannot specify 'hw:cpu_dedicated_mask' without the 'mixed' policy.");
    return { policy, threadPolicy, dedicated: firstCpus(sources.flavor.vcpus) };
  }
  if (!realtimeCpus === !mask)
    throw badRequest(
      "Dedicated CPU set can be specified from either 'hw:cpu_dedicated_mask' or 'hw:cpu_realtime_mask' when using 'mixed' CPU policy. 'hw:cpu_dedicated_mask' and 'hw:cpu_realtime_mask' can not be specified at the same time, or be specified with none of them.",
    );
  return { policy, threadPolicy, dedicated: mask ?? realtimeCpus ?? new Set() };
}
