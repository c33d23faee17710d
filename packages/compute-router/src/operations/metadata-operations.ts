import { Refusal } from '@apistrata/compute-engine';
import type { Windowed } from '@apistrata/microversion';
import type { Operation } from '@apistrata/microversion/router';
import { object } from '@apistrata/microversion/schema';
import type { ComputeCall } from '../http/call.js';
import { operation } from '../operation.js';
import type { RuleName } from '../policy/index.js';
import { textMap } from '../schemas/reply-types.js';
import { metadata } from '../schemas/types.js';

type Items = Readonly<Record<string, string>>;

/** What is different from one kind of thing to the other. */
interface Described {
  readonly summary: string;
  readonly policy?: RuleName;
  readonly errors: readonly number[];
}

/** Things that have texts by key, and how these are kept. */
interface MetadataOf<T> {
  /** Path of all items; one of them is below it, by its key. */
  readonly path: string;
  readonly window?: Windowed<true>;
  /** Finds the thing by the parameters of the path. */
  readonly target: (call: ComputeCall & { readonly params: never }) => Promise<T>;
  readonly items: (target: T) => Items;
  /** Adds items, and replaces those of the same keys; gives all there are then. */
  readonly merge: (call: ComputeCall, target: T, items: Items) => Promise<Items>;
  readonly replace: (call: ComputeCall, target: T, items: Items) => Promise<Items>;
  /** Takes away an item; 404 when there is none. */
  readonly remove: (call: ComputeCall, target: T, key: string) => Promise<unknown>;
  readonly list: Described;
  readonly add: Described;
  readonly replaceAll: Described;
  readonly show: Described;
  readonly set: Described;
  readonly delete: Described;
}

const several = object({ metadata });
const single = object({
  meta: metadata.refine((meta) => Object.keys(meta).length === 1, {
    message: 'There must be exactly one metadata item',
  }),
});

const keyIn = ({ params }: { readonly params: unknown }) => (params as { readonly id: string }).id;

/** One item; throws the 404 when there is none. */
export function itemOf(items: Items, key: string): string {
  const value = Object.hasOwn(items, key) ? items[key] : undefined;
  if (value === undefined) throw new Refusal('NOT_FOUND', 'Metadata item was not found');
  return value;
}

/** The operations on the metadata of one kind of thing. */
export function metadataOperations<T>(of: MetadataOf<T>): readonly Operation[] {
  const { window } = of;
  const target = (call: ComputeCall & { readonly params: unknown }) => of.target(call as never);
  const all = { path: of.path, window, target, reply: { metadata: textMap } };
  const one = { path: `${of.path}/{id}`, window, target };
  return [
    operation({
      method: 'GET',
      ...all,
      ...of.list,
      status: 200,
      run: (call) => ({ metadata: { ...of.items(call.target) } }),
    }),
    operation({
      method: 'POST',
      ...all,
      ...of.add,
      status: 200,
      body: several,
      run: async (call) => ({ metadata: await of.merge(call, call.target, call.body.metadata) }),
    }),
    operation({
      method: 'PUT',
      ...all,
      ...of.replaceAll,
      status: 200,
      body: several,
      run: async (call) => ({ metadata: await of.replace(call, call.target, call.body.metadata) }),
    }),
    operation({
      method: 'GET',
      ...one,
      ...of.show,
      status: 200,
      reply: { meta: textMap },
      run: (call) => ({ meta: { [keyIn(call)]: itemOf(of.items(call.target), keyIn(call)) } }),
    }),
    operation({
      method: 'PUT',
      ...one,
      ...of.set,
      status: 200,
      body: single,
      reply: { meta: textMap },
      run: async (call) => {
        const { meta } = call.body;
        if (!Object.hasOwn(meta, keyIn(call))) throw new Refusal('BAD_REQUEST', 'Request body and URI mismatch');
        await of.merge(call, call.target, meta);
        return { meta };
      },
    }),
    operation({
      method: 'DELETE',
      ...one,
      ...of.delete,
      status: 204,
      run: (call) => of.remove(call, call.target, keyIn(call)),
    }),
  ];
}
