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

/** The documentation of an operation that differs between resources with metadata. */
interface OperationDocs extends Pick<OperationTexts, 'name' | 'description'>, Pick<Operation, 'when'> {
  readonly summary: string;
  readonly policy?: RuleName;
  readonly errors: readonly number[];
}

/** A kind of resource with metadata, and how its metadata is stored. */
interface MetadataResource<T> {
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
  /** Removes an item. Throws a 404 if it does not exist. */
  readonly remove: (call: ComputeCall, target: T, key: string) => Promise<unknown>;
  readonly list: OperationDocs;
  readonly add: OperationDocs;
  readonly replaceAll: OperationDocs;
  readonly show: OperationDocs;
  readonly set: OperationDocs;
  readonly delete: OperationDocs;
}

const singleItem = metadata.refine((meta) => Object.keys(meta).length === 1, {
  message: 'There must be exactly one metadata item',
});

const keyIn = ({ params }: { readonly params: unknown }) => (params as { readonly id: string }).id;

/**
 * Returns one item.
 *
 * @throws Rejection (404) if the item does not exist
 */
export function itemOf(items: Items, key: string): string {
  const value = Object.hasOwn(items, key) ? items[key] : undefined;
  if (value === undefined) throw new Rejection('NOT_FOUND', 'Metadata item was not found');
  return value;
}

/** Creates the metadata operations for one kind of resource. */
export function metadataOperations<T>(kind: MetadataResource<T>): readonly Operation[] {
  const { docs } = kind;
  const target = (call: ComputeCall & { readonly params: unknown }) => kind.target(call as never);
  const itemsBody = object({ metadata: described(kind.metadata, metadata) });
  const item = { meta: described(kind.meta, textMap) };
  const allItems = { ...docs, path: kind.path, target, reply: { metadata: described(kind.metadata, textMap) } };
  const oneItem = { ...docs, path: `${kind.path}/{id}`, target };
  return [
    operation({
      ...allItems,
      ...kind.list,
      method: 'GET',
      status: 200,
      run: (call) => ({ metadata: { ...kind.items(call.target) } }),
    }),
    operation({
      ...allItems,
      ...kind.add,
      method: 'POST',
      status: 200,
      body: itemsBody,
      run: async (call) => ({ metadata: await kind.merge(call, call.target, call.body.metadata) }),
    }),
    operation({
      ...allItems,
      ...kind.replaceAll,
      method: 'PUT',
      status: 200,
      body: itemsBody,
      run: async (call) => ({ metadata: await kind.replace(call, call.target, call.body.metadata) }),
    }),
    operation({
      ...oneItem,
      ...kind.show,
      method: 'GET',
      status: 200,
      reply: item,
      run: (call) => ({ meta: { [keyIn(call)]: itemOf(kind.items(call.target), keyIn(call)) } }),
    }),
    operation({
      ...oneItem,
      ...kind.set,
      method: 'PUT',
      status: 200,
      body: object({ meta: described(kind.meta, singleItem) }),
      reply: item,
      run: async (call) => {
        const { meta } = call.body;
        if (!Object.hasOwn(meta, keyIn(call))) throw new Rejection('BAD_REQUEST', 'Request body and URI mismatch');
        await kind.merge(call, call.target, meta);
        return { meta };
      },
    }),
    operation({
      ...oneItem,
      ...kind.delete,
      method: 'DELETE',
      status: 204,
      run: (call) => kind.remove(call, call.target, keyIn(call)),
    }),
  ];
}
