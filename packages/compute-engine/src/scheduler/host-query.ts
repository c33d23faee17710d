import type { HostUsage } from './claims.js';
import type { Host } from './infrastructure.js';

type Value = string | number | boolean | null;

/** What a query may ask of a host. Memory in MiB; disks in MiB where the name says so, else GiB. */
type Variable = (host: Host, usage: HostUsage | undefined) => Value;

const variables: ReadonlyMap<string, Variable> = new Map(
  Object.entries<Variable>({
    host: ({ name }) => name,
    hypervisor_hostname: ({ node }) => node.hypervisorHostname,
    hypervisor_type: ({ node }) => node.hypervisorType,
    hypervisor_version: ({ node }) => node.hypervisorVersion,
    vcpus_total: ({ node }) => node.vcpus,
    vcpus_used: (_host, usage) => usage?.vcpus ?? 0,
    total_usable_ram_mb: ({ node }) => node.memoryMb,
    free_ram_mb: ({ node }, usage) => node.memoryMb - (usage?.memoryMb ?? 0),
    total_usable_disk_gb: ({ node }) => node.localGb,
    free_disk_mb: ({ node }, usage) => (node.localGb - (usage?.diskGb ?? 0)) * 1024,
    num_instances: (_host, usage) => usage?.servers ?? 0,
  }),
);

const compare = (fits: (one: any, other: any) => boolean) => (values: readonly Value[]) =>
  values.length > 1 && values.slice(1).every((value) => typeof value === typeof values[0] && fits(values[0], value));

type Operator = (values: readonly Value[]) => boolean;

const operators: ReadonlyMap<string, Operator> = new Map(
  Object.entries<Operator>({
    '=': compare((a, b) => a === b),
    '<': compare((a, b) => a < b),
    '>': compare((a, b) => a > b),
    '<=': compare((a, b) => a <= b),
    '>=': compare((a, b) => a >= b),
    in: ([first, ...others]) => others.includes(first as Value),
    not: (values) => values.every((value) => !value),
    and: (values) => values.every(Boolean),
    or: (values) => values.some(Boolean),
  }),
);

const MOST_LEVELS = 20;

/** Whether a host fits a `query` hint, such as `["and", [">=", "$free_ram_mb", 1024], ["=", "$host", "host1"]]`. */
export function fitsQuery(query: unknown, host: Host, usage: HostUsage | undefined): boolean {
  let parsed = query;
  if (typeof query === 'string') {
    try {
      parsed = JSON.parse(query);
    } catch {
      return false;
    }
  }
  return Boolean(worthOf(parsed, host, usage, 0));
}

function worthOf(term: unknown, host: Host, usage: HostUsage | undefined, level: number): Value {
  if (typeof term === 'string' && term.startsWith('$')) {
    return variables.get(term.slice(1))?.(host, usage) ?? null;
  }
  if (Array.isArray(term)) {
    const [name, ...rest] = term;
    const operator = operators.get(String(name));
    if (level >= MOST_LEVELS || !operator) return false;
    return operator(rest.map((inner) => worthOf(inner, host, usage, level + 1)));
  }
  return typeof term === 'object' || term === undefined ? null : (term as Value);
}
