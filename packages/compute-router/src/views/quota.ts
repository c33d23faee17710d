import type { QuotaValues } from '@apistrata/compute-engine/api';
import { since, until, type Windowed } from '@apistrata/microversion';
import { field, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';

type Kind = keyof QuotaValues;

/** Limits a value to the window of a kind. */
type InWindow = <T>(value: T) => Windowed<T>;

type Windows = Readonly<Record<Kind, InWindow>>;

const always: InWindow = (value) => value;

function kinds(names: readonly Kind[], window: InWindow): Partial<Windows> {
  return Object.fromEntries(names.map((name) => [name, window]));
}

const permanent = ['cores', 'instances', 'key_pairs', 'metadata_items', 'ram'] as const;
const groupKinds = ['server_groups', 'server_group_members'] as const;
const injected = ['injected_files', 'injected_file_content_bytes', 'injected_file_path_bytes'] as const;
/** Counted by the services that own them, so the compute API removed these kinds. */
const networking = ['fixed_ips', 'floating_ips', 'security_groups', 'security_group_rules'] as const;

/** The versions in which quota sets have a kind. */
const quotaSetKinds = {
  ...kinds(permanent, always),
  ...kinds(groupKinds, always),
  ...kinds(injected, (value) => until('2.56', value)),
  ...kinds(networking, (value) => until('2.35', value)),
} as Windows;

/** The versions in which a kind of a quota class can be set; groups are shown only in later versions. */
const quotaClassKinds = { ...quotaSetKinds, ...kinds(networking, (value) => until('2.49', value)) } as Windows;
const shownClassKinds = { ...quotaClassKinds, ...kinds(groupKinds, (value) => since('2.50', value)) } as Windows;

function fields<T>(windows: Windows, make: (kind: Kind) => T): Readonly<Record<string, Windowed<T>>> {
  return Object.fromEntries(Object.entries(windows).map(([kind, window]) => [kind, window(make(kind as Kind))]));
}

/** Fields of a body that sets limits. `networks` is a former kind and has no effect. */
export const quotaSetBody = <T>(value: T) => ({
  ...fields(quotaSetKinds, () => value),
  networks: until('2.35', value),
});
export const quotaClassBody = <T>(value: T) => ({
  ...fields(quotaClassKinds, () => value),
  networks: until('2.49', value),
});

/** Limits of an object with a name. */
interface Named {
  readonly id: string;
  readonly limits: QuotaValues;
}

const limit = z.int().min(-1);
const amount = z.int().min(0);
const limitOf = (kind: Kind) => field<Named, ComputeCall, typeof limit>(limit, ({ limits }) => limits[kind]);
const id = { id: field<Named, ComputeCall, z.ZodString>(z.string(), (named) => named.id) };

export const quotaSetChanged = view<Named, ComputeCall>(fields(quotaSetKinds, limitOf));
export const quotaSetShown = view<Named, ComputeCall>({ ...fields(quotaSetKinds, limitOf), ...id });
export const quotaClassChanged = view<Named, ComputeCall>(fields(shownClassKinds, limitOf));
export const quotaClassShown = view<Named, ComputeCall>({ ...fields(shownClassKinds, limitOf), ...id });

const measured = z.strictObject({ in_use: amount, limit, reserved: z.literal(0) });

/** Limits and usage. `reserved` is always 0, because requested resources count as used immediately. */
export const quotaSetDetail = view<Named & { readonly usage: QuotaValues }, ComputeCall>({
  ...fields(quotaSetKinds, (kind) =>
    field<Named & { readonly usage: QuotaValues }, ComputeCall, typeof measured>(measured, ({ limits, usage }) => ({
      in_use: usage[kind],
      limit: limits[kind],
      reserved: 0,
    })),
  ),
  id: field(z.string(), (named) => named.id),
});
