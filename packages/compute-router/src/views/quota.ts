import type { QuotaValues } from '@apistrata/compute-engine/api';
import { since, until, type Windowed } from '@apistrata/microversion';
import { type Described, described } from '@apistrata/microversion/schema';
import { field, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';

type Kind = keyof QuotaValues;

/** OpenAPI description for the quotas of a project or a quota class. */
export const quotasText = 'Quotas by resource. -1 means unlimited.';

/** Limits a value to the range of versions in which a quota exists. */
type RestrictToWindow = <T>(value: T) => Windowed<T>;

/** Adds a quota's description to a value, and limits the value to the range of versions in which the quota exists. */
type KindField = <T>(value: T) => Windowed<Described<T>>;

type Kinds = Readonly<Record<Kind, KindField>>;

const inAllVersions: RestrictToWindow = (value) => value;

function kindFields(texts: Readonly<Partial<Record<Kind, string>>>, window: RestrictToWindow): Partial<Kinds> {
  const field = (text: string): KindField => {
    return (value) => window(described(text, value));
  };
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, field(text)]));
}

const permanentKinds = {
  cores: 'Total number of virtual CPUs in all servers.',
  instances: 'Number of servers.',
  key_pairs: 'Number of key pairs per user.',
  metadata_items: 'Number of metadata items per server.',
  ram: 'Total memory of all servers, in MiB.',
} as const;
const groupKinds = {
  server_groups: 'Number of server groups.',
  server_group_members: 'Number of servers per server group.',
} as const;
const injectionKinds = {
  injected_files: 'Number of injected files per server.',
  injected_file_content_bytes: 'Size of an injected file, in bytes.',
  injected_file_path_bytes: 'Length of the path of an injected file, in bytes.',
} as const;
/** Quotas that the networking service enforces. Newer versions of the compute API do not have them. */
const networkingKinds = {
  fixed_ips: 'Number of fixed IP addresses. The networking service counts them.',
  floating_ips: 'Number of floating IP addresses. The networking service counts them.',
  security_groups: 'Number of security groups. The networking service counts them.',
  security_group_rules: 'Number of rules per security group. The networking service counts them.',
} as const;
const NETWORKS = 'Number of networks. The networking service counts them.';

/** The quotas of projects and users, with the versions in which they exist. */
const quotaSetKinds = {
  ...kindFields(permanentKinds, inAllVersions),
  ...kindFields(groupKinds, inAllVersions),
  ...kindFields(injectionKinds, (value) => until('2.56', value)),
  ...kindFields(networkingKinds, (value) => until('2.35', value)),
} as Kinds;

/**
 * The quotas of quota classes, with the versions in which requests can set them. Server group quotas can be set in all
 * versions, but are shown only since 2.50.
 */
const quotaClassKinds = { ...quotaSetKinds, ...kindFields(networkingKinds, (value) => until('2.49', value)) } as Kinds;
const shownClassKinds = { ...quotaClassKinds, ...kindFields(groupKinds, (value) => since('2.50', value)) } as Kinds;

function fields<T>(fieldsByKind: Kinds, valueFor: (kind: Kind) => T): Readonly<Record<string, Windowed<Described<T>>>> {
  return Object.fromEntries(Object.entries(fieldsByKind).map(([kind, field]) => [kind, field(valueFor(kind as Kind))]));
}

/** Returns the fields of a request that sets quotas. The former quota `networks` has no effect. */
export const quotaSetBody = <T>(value: T) => ({
  ...fields(quotaSetKinds, () => value),
  networks: until('2.35', described(NETWORKS, value)),
});
export const quotaClassBody = <T>(value: T) => ({
  ...fields(quotaClassKinds, () => value),
  networks: until('2.49', described(NETWORKS, value)),
});

/** The quotas of a project or a quota class, by resource. */
interface QuotaSet {
  readonly id: string;
  readonly limits: QuotaValues;
}

const limitSchema = z.int().min(-1);
const amountSchema = z.int().min(0);
const limitOf = (kind: Kind) =>
  field<QuotaSet, ComputeCall, typeof limitSchema>(limitSchema, ({ limits }) => limits[kind]);
const idOf = (text: string) =>
  described(
    text,
    field<QuotaSet, ComputeCall, z.ZodString>(z.string(), ({ id }) => id),
  );
const projectId = { id: idOf('ID of the project.') };

export const changedQuotaSet = view<QuotaSet, ComputeCall>(fields(quotaSetKinds, limitOf));
export const shownQuotaSet = view<QuotaSet, ComputeCall>({ ...fields(quotaSetKinds, limitOf), ...projectId });
export const changedQuotaClass = view<QuotaSet, ComputeCall>(fields(shownClassKinds, limitOf));
export const shownQuotaClass = view<QuotaSet, ComputeCall>({
  ...fields(shownClassKinds, limitOf),
  id: idOf('Name of the quota class.'),
});

const detailSchema = z.strictObject({
  in_use: amountSchema.describe('Current usage.'),
  limit: limitSchema.describe('The quota. -1 means unlimited.'),
  reserved: z
    .literal(0)
    .describe('Amount reserved by requests in progress. Always 0, because `in_use` includes requested resources.'),
});

/** A project's quotas and usage. `reserved` is always 0, because usage includes requested resources immediately. */
export const quotaSetDetail = view<QuotaSet & { readonly usage: QuotaValues }, ComputeCall>({
  ...fields(quotaSetKinds, (kind) =>
    field<QuotaSet & { readonly usage: QuotaValues }, ComputeCall, typeof detailSchema>(
      detailSchema,
      ({ limits, usage }) => ({
        in_use: usage[kind],
        limit: limits[kind],
        reserved: 0,
      }),
    ),
  ),
  ...projectId,
});
