import { badRequest } from '../../errors/rejection.js';
import { firstCpus, isSubset, parseCpuMask } from './cpu-set.js';
import { isTruthyString } from './is-truthy-string.js';
import {
  checkImageValue,
  flavorInteger,
  imageInteger,
  inMessage,
  isInteger,
  type OptionSources,
  requested,
} from './requested-options.js';

const POLICIES = ['dedicated', 'shared', 'mixed'];
const THREAD_POLICIES = ['prefer', 'isolate', 'require'];
const EMULATOR_POLICIES = ['share', 'isolate'];

/** Dedicated CPUs of a server, with their policies. */
export interface CpuOptions {
  readonly policy: string | undefined;
  readonly threadPolicy: string | undefined;
  readonly dedicated: ReadonlySet<number>;
}

/** Throws 400 if the number of serial ports is not an integer, or exceeds that of the flavor. */
export function checkSerialPorts(of: OptionSources): void {
  const { flavorValue: ofFlavor, imageValue: ofImage } = requested(of, 'serial_port_count');
  if (ofFlavor && !isInteger(ofFlavor))
    throw badRequest(`Number of serial ports specified in flavor is invalid: expected an integer, got '${ofFlavor}'`);
  const [max, expected] = [Number(ofFlavor ?? 0), imageInteger(ofImage)];
  if (max && expected > max)
    throw badRequest('Forbidden to exceed flavor value of number of serial ports passed in image meta.');
}

const PARTS = ['sockets', 'cores', 'threads'] as const;
const UNBOUNDED = 65_536;

/** Throws 400 for a CPU topology with invalid numbers, or beyond its limits. */
export function checkCpuTopology(of: OptionSources): void {
  const amounts = (prefix: string) =>
    PARTS.map((part) => {
      const { flavorValue: ofFlavor, imageValue: ofImage } = requested(of, `${prefix}${part}`);
      return { flavor: flavorInteger(ofFlavor), image: imageInteger(ofImage) };
    });
  const formatParts = (values: readonly number[]) => PARTS.map((part, index) => `${part}=${values[index]}`).join(', ');
  const limits = amounts('cpu_max_');
  if (limits.some(({ flavor, image }) => flavor && image > flavor))
    throw badRequest(
      `Image vCPU topology limits (${formatParts(limits.map(({ image }) => image))}) exceeds the limits of the flavor (${formatParts(limits.map(({ flavor }) => flavor))})`,
    );
  const max = limits.map(({ flavor, image }) => image || flavor || UNBOUNDED);
  const expected = amounts('cpu_').map(({ image }) => image);
  if (expected.some((amount, index) => amount > (max[index] ?? UNBOUNDED)))
    throw badRequest(
      `Image vCPU topology (${formatParts(expected)}) exceeds the limits of the flavor or image (${formatParts(max)})`,
    );
}

function policyOf(of: OptionSources): string | undefined {
  const { flavorValue: ofFlavor, imageValue: ofImage } = requested(of, 'cpu_policy');
  checkImageValue(ofImage, POLICIES);
  if (ofFlavor && !POLICIES.includes(ofFlavor))
    throw badRequest(
      `CPU policy requested from 'flavor extra specs' is invalid, given: '${ofFlavor}', available: '${inMessage(POLICIES)}'.`,
    );
  const overridden = ofFlavor === 'mixed' ? ['dedicated'] : ofFlavor === 'shared' ? ['mixed', 'dedicated'] : [];
  if (ofImage && overridden.includes(ofImage))
    throw badRequest(
      "Image property 'hw_cpu_policy' is not permitted to override CPU pinning policy set against the flavor",
    );
  return ofFlavor || ofImage;
}

function threadPolicyOf(of: OptionSources): string | undefined {
  const { flavorValue: ofFlavor, imageValue: ofImage } = requested(of, 'cpu_thread_policy');
  checkImageValue(ofImage, THREAD_POLICIES);
  if (ofFlavor && !THREAD_POLICIES.includes(ofFlavor))
    throw badRequest(
      `CPU thread policy requested from 'flavor extra specs' is invalid, given: '${ofFlavor}', available: '${inMessage(THREAD_POLICIES)}'.`,
    );
  if (ofFlavor === undefined || ofFlavor === 'prefer') return ofFlavor ?? ofImage;
  if (ofImage && ofImage !== ofFlavor)
    throw badRequest(
      "Image property 'hw_cpu_thread_policy' is not permitted to override CPU thread pinning policy set against the flavor",
    );
  return ofFlavor;
}

function emulatorPolicyOf({ flavor }: OptionSources): string | undefined {
  const policy = flavor.extraSpecs['hw:emulator_threads_policy'];
  if (policy && !EMULATOR_POLICIES.includes(policy))
    throw badRequest(
      `CPU emulator threads option requested is invalid, given: '${policy}', available: '${inMessage(EMULATOR_POLICIES)}'.`,
    );
  return policy;
}

/** Returns the realtime CPUs; throws 400 for a mask that leaves no CPU for the emulator. */
export function realtimeCpusOf(of: OptionSources): ReadonlySet<number> | undefined {
  const { flavor } = of;
  if (!isTruthyString(flavor.extraSpecs['hw:cpu_realtime'])) return undefined;
  const { flavorValue: ofFlavor, imageValue: ofImage } = requested(of, 'cpu_realtime_mask');
  const mask = ofImage || ofFlavor;
  const all = firstCpus(flavor.vcpus);
  const realtime = mask ? parseCpuMask(mask, flavor.vcpus) : all;
  const isAll = realtime.size === all.size && isSubset(realtime, all);
  if (realtime.size === 0 || (isAll && !emulatorPolicyOf(of)))
    throw badRequest(
      'Use of realtime CPUs requires either one or more non-realtime CPU(s) or offloaded emulator threads.',
    );
  if (!isSubset(realtime, all))
    throw badRequest(
      'Realtime policy vCPU(s) mask is configured with RT vCPUs that are not a subset of the vCPUs in the flavor. See hw:cpu_realtime_mask or hw_cpu_realtime_mask',
    );
  return realtime;
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

/** Returns the sum of a flavor's requests for a resource class, in all groups. */
function requestedOf({ flavor }: OptionSources, name: 'VCPU' | 'PCPU'): number {
  const key = new RegExp(`^resources([1-9][0-9]*)?:${name}`);
  return Object.entries(flavor.extraSpecs)
    .filter(([spec, amount]) => key.test(spec) && isInteger(amount))
    .reduce((sum, [, amount]) => sum + Number(amount), 0);
}

/**
 * Returns the policy that CPU resources of a flavor imply; throws 400 if they conflict with each other or with another
 * policy.
 */
function requestedPolicy(
  of: OptionSources,
  policy: string | undefined,
  emulator: string | undefined,
): string | undefined {
  const [vcpus, pcpus] = [requestedOf(of, 'VCPU'), requestedOf(of, 'PCPU')];
  if (policy && (vcpus || pcpus))
    throw badRequest(
      "It is not possible to use the 'resources:VCPU' or 'resources:PCPU' extra specs in combination with the 'hw:cpu_policy' extra spec or 'hw_cpu_policy' image metadata property; use one or the other",
    );
  if (vcpus && pcpus)
    throw badRequest(
      "It is not possible to specify both 'resources:VCPU' and 'resources:PCPU' extra specs; use one or the other",
    );
  if (!pcpus) return vcpus ? 'shared' : policy;
  if (emulator === 'isolate' && of.flavor.vcpus + 1 !== pcpus)
    throw badRequest(
      "You have requested 'hw:emulator_threads_policy=isolate' but have not requested sufficient PCPUs to handle this policy; you must allocate exactly flavor.vcpus + 1 PCPUs.",
    );
  if (emulator !== 'isolate' && of.flavor.vcpus !== pcpus)
    throw badRequest(
      "There is a mismatch between the number of PCPUs requested via 'resourcesNN:PCPU' and the flavor); you must allocate exactly flavor.vcpus PCPUs",
    );
  return 'dedicated';
}

const HYPERTHREADING = /^trait([1-9][0-9]*)?:HW_CPU_HYPERTHREADING/;

function hyperthreadingOf({ flavor, image }: OptionSources): string | undefined {
  const trait = Object.entries(flavor.extraSpecs).find(([spec]) => HYPERTHREADING.test(spec))?.[1];
  return trait ?? (image.properties['trait:HW_CPU_HYPERTHREADING'] === 'required' ? 'required' : undefined);
}

/** Returns the CPU policies of a flavor and an image; throws 400 for invalid combinations. */
export function cpuOptionsOf(of: OptionSources): CpuOptions {
  const ownPolicy = policyOf(of);
  const ownThreadPolicy = threadPolicyOf(of);
  const realtime = realtimeCpusOf(of);
  const mask = dedicatedMaskOf(of);
  const emulator = emulatorPolicyOf(of);
  const policy = requestedPolicy(of, ownPolicy, emulator);
  const hyperthreading = hyperthreadingOf(of);
  if (ownThreadPolicy && hyperthreading)
    throw badRequest(
      "It is not possible to use the 'trait:HW_CPU_HYPERTHREADING' extra spec in combination with the 'hw:cpu_thread_policy' extra spec or 'hw_cpu_thread_policy' image metadata property; use one or the other",
    );
  const threadPolicy =
    hyperthreading === 'forbidden' ? 'isolate' : hyperthreading === 'required' ? 'require' : ownThreadPolicy;
  if (policy === undefined || policy === 'shared') {
    if (threadPolicy) throw badRequest('Cannot set cpu thread pinning policy in a non dedicated cpu pinning policy');
    if (emulator === 'isolate')
      throw badRequest('An isolated CPU emulator threads option requires a dedicated CPU policy option.');
    if (mask) throw badRequest("Cannot specify 'hw:cpu_dedicated_mask' without the 'mixed' policy.");
    if (realtime) throw badRequest('Cannot set realtime policy in a non dedicated cpu pinning policy');
    return { policy, threadPolicy, dedicated: new Set() };
  }
  if (policy === 'dedicated') {
    if (mask) throw badRequest("Cannot specify 'hw:cpu_dedicated_mask' without the 'mixed' policy.");
    return { policy, threadPolicy, dedicated: firstCpus(of.flavor.vcpus) };
  }
  if (!realtime === !mask)
    throw badRequest(
      "Dedicated CPU set can be specified from either 'hw:cpu_dedicated_mask' or 'hw:cpu_realtime_mask' when using 'mixed' CPU policy. 'hw:cpu_dedicated_mask' and 'hw:cpu_realtime_mask' can not be specified at the same time, or be specified with none of them.",
    );
  return { policy, threadPolicy, dedicated: mask ?? realtime ?? new Set() };
}
