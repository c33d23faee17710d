import { badRequest } from '../../errors/rejection.js';
import { cpuOptionsOf } from './cpu-options.js';
import { parseCpuSet } from './cpu-set.js';
import { checkLockedMemory, pageSizeOf } from './memory-options.js';
import { isInteger, type OptionSources, requestedValuesOf } from './requested-options.js';

/** A NUMA node of a guest, with its CPUs and its memory in MiB. */
interface NumaCell {
  readonly cpus: readonly number[];
  readonly memoryMb: number;
}

/**
 * The NUMA topology of a guest with NUMA nodes, a memory page size or dedicated CPUs. Equal topologies have equal JSON.
 */
export interface NumaTopology {
  readonly cells: readonly NumaCell[];
  readonly policy: string | null;
  readonly threadPolicy: string | null;
  readonly dedicated: readonly number[];
  readonly pageSize: string | null;
}

const INCOMPLETE_NODES_MESSAGE = 'CPU and memory allocation must be provided for all NUMA nodes';

function overrideError(name: string): Error {
  return badRequest(`Image property '${name}' is not permitted to override NUMA configuration set against the flavor`);
}

function requestedNodeCountOf(sources: OptionSources): number | undefined {
  const { flavorValue, imageValue } = requestedValuesOf(sources, 'numa_nodes');
  if (flavorValue && imageValue) throw overrideError('hw_numa_nodes');
  const nodes = flavorValue || imageValue;
  if (nodes !== undefined && (!isInteger(nodes) || Number(nodes) < 1))
    throw badRequest(`The property 'numa_nodes' cannot be '${nodes}'. It must be a number greater than 0`);
  return nodes === undefined ? undefined : Number(nodes);
}

/** Returns the values of `NAME.0`, `NAME.1` and so on, up to the first missing number. */
function readNumberedValues(specs: Readonly<Record<string, string>>, name: string): readonly string[] | undefined {
  const values: string[] = [];
  for (let value = specs[`${name}.0`]; value !== undefined; value = specs[`${name}.${values.length}`])
    values.push(value);
  return values.length > 0 ? values : undefined;
}

function parseNumbered<T>(
  { flavor, image }: OptionSources,
  name: string,
  parse: (text: string) => T,
): readonly T[] | undefined {
  const flavorValue = readNumberedValues(flavor.extraSpecs, `hw:${name}`)?.map(parse);
  const imageValue = readNumberedValues(image.properties, `hw_${name}`)?.map(parse);
  if (flavorValue && imageValue) throw overrideError(`hw_${name}`);
  return flavorValue ?? imageValue;
}

function parseMegabytes(text: string): number {
  if (!isInteger(text)) throw badRequest(`Invalid flavor extra spec. Error: '${text}' is not a number of megabytes`);
  return Number(text);
}

function createEvenCells({ vcpus, memoryMb }: OptionSources['flavor'], nodes: number): readonly NumaCell[] {
  if (vcpus % nodes > 0 || memoryMb % nodes > 0)
    throw badRequest(
      'Instance CPUs and/or memory cannot be evenly distributed across instance NUMA nodes. Explicit assignment of CPUs and memory to nodes is required',
    );
  const cpusPerNode = vcpus / nodes;
  return Array.from({ length: nodes }, (_, node) => ({
    cpus: Array.from({ length: cpusPerNode }, (_cpu, index) => node * cpusPerNode + index),
    memoryMb: memoryMb / nodes,
  }));
}

function createAssignedCells(
  { vcpus, memoryMb }: OptionSources['flavor'],
  cpuSets: readonly ReadonlySet<number>[],
  memory: readonly number[],
): readonly NumaCell[] {
  const unassignedCpus = new Set(Array.from({ length: vcpus }, (_, cpu) => cpu));
  for (const cpu of cpuSets.flatMap((set) => [...set])) {
    if (cpu > vcpus - 1) throw badRequest(`CPU number ${cpu} is larger than max ${vcpus - 1}`);
    if (!unassignedCpus.delete(cpu)) throw badRequest(`CPU number ${cpu} is assigned to two nodes`);
  }
  if (unassignedCpus.size > 0)
    throw badRequest(`CPU number {${[...unassignedCpus].join(', ')}} is not assigned to any node`);
  const assignedMegabytes = memory.reduce((sum, megabytes) => sum + megabytes, 0);
  if (assignedMegabytes !== memoryMb)
    throw badRequest(`${assignedMegabytes} MB of memory assigned, but expected ${memoryMb} MB`);
  return cpuSets.map((cpus, node) => ({ cpus: [...cpus].sort((a, b) => a - b), memoryMb: memory[node] ?? 0 }));
}

function cellsOf(sources: OptionSources, nodes: number): readonly NumaCell[] {
  const cpuSets = parseNumbered(sources, 'numa_cpus', parseCpuSet);
  const memory = parseNumbered(sources, 'numa_mem', parseMegabytes);
  if (!cpuSets && !memory) return createEvenCells(sources.flavor, nodes);
  if (cpuSets?.length !== nodes || memory?.length !== nodes) throw badRequest(INCOMPLETE_NODES_MESSAGE);
  return createAssignedCells(sources.flavor, cpuSets, memory);
}

/**
 * Returns the NUMA topology that a flavor and an image request, or undefined if they request none. Throws 400 for
 * invalid combinations.
 */
export function numaTopologyOf(sources: OptionSources): NumaTopology | undefined {
  const { policy, threadPolicy, dedicated } = cpuOptionsOf(sources);
  const nodes = requestedNodeCountOf(sources);
  const pageSize = pageSizeOf(sources);
  checkLockedMemory(sources);
  if (!nodes && !pageSize && policy !== 'dedicated' && policy !== 'mixed') return undefined;
  return {
    cells: cellsOf(sources, nodes ?? 1),
    policy: policy ?? null,
    threadPolicy: threadPolicy ?? null,
    dedicated: [...dedicated].sort((a, b) => a - b),
    pageSize: pageSize ?? null,
  };
}
