import { Rejection } from '@apistrata/compute-engine';
import { described, object } from '@apistrata/microversion/schema';
import type { Operation } from '@apistrata/microversion-router';
import type { ComputeCall } from '../http/call.js';
import { type OperationTexts, operation } from '../operation.js';
import type { RuleName } from '../policy/index.js';
import type { Resource } from '../reference/resource.js';
import { textMap } from '../schemas/reply-types.js';
import { metadata } from '../schemas/types.js';

type Items = Readonly<Record<string, string>>;

/** The parts of a metadata operation's documentation that depend on the kind of resource. */
interface OperationDocs extends Pick<OperationTexts, 'name' | 'description'>, Pick<Operation, 'when'> {
  readonly summary: string;
  readonly policy?: RuleName;
  readonly errors: readonly number[];
}

/** A kind of resource that has metadata, and functions that read and write the metadata. */
interface MetadataResource<T> {
  /** Documentation that all metadata operations on this kind of resource share. */
  readonly docs: Resource & Pick<Operation, 'window'>;
  /** OpenAPI description of the object with all metadata items. */
  readonly metadata: string;
  /** OpenAPI description of the object with a single metadata item. */
  readonly meta: string;
  /** Path of the metadata collection. The path of an item is this path followed by the item's key. */
  readonly path: string;
  /** Loads the resource that the path parameters identify. */
  readonly target: (call: ComputeCall & { readonly params: never }) => Promise<T>;
  readonly items: (target: T) => Items;
  /** Adds metadata items, or replaces existing items with the same keys. Returns all items. */
  readonly merge: (call: ComputeCall, target: T, items: Items) => Promise<Items>;
  readonly replace: (call: ComputeCall, target: T, items: Items) => Promise<Items>;
  /** Removes a metadata item. Throws a 404 error if the item does not exist. */
  readonly remove: (call: ComputeCall, target: T, key: string) => Promise<unknown>;
  readonly list: OperationDocs;
  readonly add: OperationDocs;
  readonly replaceAll: OperationDocs;
  readonly show: OperationDocs;
  readonly set: OperationDocs;
  readonly delete: OperationDocs;
}

const singleItemSchema = metadata.refine((meta) => Object.keys(meta).length === 1, {
  message: 'The request body must contain exactly one metadata item',
});

const keyOf = ({ params }: { readonly params: unknown }) => (params as { readonly id: string }).id;

/**
 * Returns the value of a metadata item.
 *
 * @throws Rejection (404) if the item does not exist
 */
export function itemOf(items: Items, key: string): string {
  const value = Object.hasOwn(items, key) ? items[key] : undefined;
  if (value === undefined) throw new Rejection('NOT_FOUND', 'Metadata item was not found');
  return value;
}

/** Creates the operations that read and write the metadata of a kind of resource. */
export function metadataOperations<T>(kind: MetadataResource<T>): readonly Operation[] {
  const { docs } = kind;
  const target = (call: ComputeCall & { readonly params: unknown }) => kind.target(call as never);
  const itemsBody = object({ metadata: described(kind.metadata, metadata) });
  const item = { meta: described(kind.meta, textMap) };
  const collectionDefinition = {
    ...docs,
    path: kind.path,
    target,
    reply: { metadata: described(kind.metadata, textMap) },
  };
  const itemDefinition = { ...docs, path: `${kind.path}/{id}`, target };
  return [
    operation({
      ...collectionDefinition,
      ...kind.list,
      method: 'GET',
      status: 200,
      run: (call) => ({ metadata: { ...kind.items(call.target) } }),
    }),
    operation({
      ...collectionDefinition,
      ...kind.add,
      method: 'POST',
      status: 200,
      body: itemsBody,
      run: async (call) => ({ metadata: await kind.merge(call, call.target, call.body.metadata) }),
    }),
    operation({
      ...collectionDefinition,
      ...kind.replaceAll,
      method: 'PUT',
      status: 200,
      body: itemsBody,
      run: async (call) => ({ metadata: await kind.replace(call, call.target, call.body.metadata) }),
    }),
    operation({
      ...itemDefinition,
      ...kind.show,
      method: 'GET',
      status: 200,
      reply: item,
      run: (call) => ({ meta: { [keyOf(call)]: itemOf(kind.items(call.target), keyOf(call)) } }),
    }),
    operation({
      ...itemDefinition,
      ...kind.set,
      method: 'PUT',
      status: 200,
      body: object({ meta: described(kind.meta, singleItemSchema) }),
      reply: item,
      run: async (call) => {
        const { meta } = call.body;
        if (!Object.hasOwn(meta, keyOf(call))) throw new Rejection('BAD_REQUEST', 'Request body and URI mismatch');
        await kind.merge(call, call.target, meta);
        return { meta };
      },
    }),
    operation({
      ...itemDefinition,
      ...kind.delete,
      method: 'DELETE',
      status: 204,
      run: (call) => kind.remove(call, call.target, keyOf(call)),
    }),
  ];
}
