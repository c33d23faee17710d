import { Rejection } from '@apistrata/compute-engine';
import type { Operation } from '@apistrata/microversion/router';
import { described, object } from '@apistrata/microversion/schema';
import type { ComputeCall } from '../http/call.js';
import { type OperationTexts, operation } from '../operation.js';
import type { RuleName } from '../policy/index.js';
import type { Resource } from '../reference/resource.js';
import { textMap } from '../schemas/reply-types.js';
import { metadata } from '../schemas/types.js';

type Items = Readonly<Record<string, string>>;

/** The differences between resources with metadata. */
interface Described extends Pick<OperationTexts, 'name' | 'description'>, Pick<Operation, 'when'> {
  readonly summary: string;
  readonly policy?: RuleName;
  readonly errors: readonly number[];
}

/** Resources with metadata, and how the metadata is stored. */
interface MetadataOf<T> {
  /** The documentation that the operations have in common. */
  readonly docs: Resource & Pick<Operation, 'window'>;
  /** Description of all items. */
  readonly metadata: string;
  /** Description of one item. */
  readonly meta: string;
  /** Path of all items; the path of one item ends with its key. */
  readonly path: string;
  /** Finds the resource by the parameters of the path. */
  readonly target: (call: ComputeCall & { readonly params: never }) => Promise<T>;
  readonly items: (target: T) => Items;
  /** Adds items and replaces those with the same keys; returns all items. */
  readonly merge: (call: ComputeCall, target: T, items: Items) => Promise<Items>;
  readonly replace: (call: ComputeCall, target: T, items: Items) => Promise<Items>;
  /** Removes an item; a missing item is a 404. */
  readonly remove: (call: ComputeCall, target: T, key: string) => Promise<unknown>;
  readonly list: Described;
  readonly add: Described;
  readonly replaceAll: Described;
  readonly show: Described;
  readonly set: Described;
  readonly delete: Described;
}

const single = metadata.refine((meta) => Object.keys(meta).length === 1, {
  message: 'There must be exactly one metadata item',
});

const keyIn = ({ params }: { readonly params: unknown }) => (params as { readonly id: string }).id;

/**
 * Returns one item.
 *
 * @throws a 404 if it does not exist
 */
export function itemOf(items: Items, key: string): string {
  const value = Object.hasOwn(items, key) ? items[key] : undefined;
  if (value === undefined) throw new Rejection('NOT_FOUND', 'Metadata item was not found');
  return value;
}

/** Creates the operations on the metadata of one kind of resource. */
export function metadataOperations<T>(of: MetadataOf<T>): readonly Operation[] {
  const { docs } = of;
  const target = (call: ComputeCall & { readonly params: unknown }) => of.target(call as never);
  const several = object({ metadata: described(of.metadata, metadata) });
  const item = { meta: described(of.meta, textMap) };
  const all = { ...docs, path: of.path, target, reply: { metadata: described(of.metadata, textMap) } };
  const one = { ...docs, path: `${of.path}/{id}`, target };
  return [
    operation({
      ...all,
      ...of.list,
      method: 'GET',
      status: 200,
      run: (call) => ({ metadata: { ...of.items(call.target) } }),
    }),
    operation({
      ...all,
      ...of.add,
      method: 'POST',
      status: 200,
      body: several,
      run: async (call) => ({ metadata: await of.merge(call, call.target, call.body.metadata) }),
    }),
    operation({
      ...all,
      ...of.replaceAll,
      method: 'PUT',
      status: 200,
      body: several,
      run: async (call) => ({ metadata: await of.replace(call, call.target, call.body.metadata) }),
    }),
    operation({
      ...one,
      ...of.show,
      method: 'GET',
      status: 200,
      reply: item,
      run: (call) => ({ meta: { [keyIn(call)]: itemOf(of.items(call.target), keyIn(call)) } }),
    }),
    operation({
      ...one,
      ...of.set,
      method: 'PUT',
      status: 200,
      body: object({ meta: described(of.meta, single) }),
      reply: item,
      run: async (call) => {
        const { meta } = call.body;
        if (!Object.hasOwn(meta, keyIn(call))) throw new Rejection('BAD_REQUEST', 'Request body and URI mismatch');
        await of.merge(call, call.target, meta);
        return { meta };
      },
    }),
    operation({
      ...one,
      ...of.delete,
      method: 'DELETE',
      status: 204,
      run: (call) => of.remove(call, call.target, keyIn(call)),
    }),
  ];
}
