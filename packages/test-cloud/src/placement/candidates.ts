import type { Call } from '../service/call.js';
import { type UsedAmounts, usedAmountsOf } from './allocations.js';
import { capacityOf, fits } from './capacity.js';
import { isAtLeast } from './placement-version.js';
import { listProviders, type Provider, rootOf } from './providers.js';
import { type CandidateRequest, parseCandidateRequest } from './request-groups.js';
import type { Group, Requirements } from './requirements.js';

const SHARING_TRAIT = 'MISC_SHARES_VIA_AGGREGATE';

/** A resource provider with the data that the search for candidates needs. */
interface ProviderNode extends Provider {
  readonly root: string;
  readonly used: UsedAmounts;
  /** The aggregates of the provider and of its tree's root. */
  readonly treeAggregates: readonly string[];
}

/** The amounts that a request group would use from one provider. */
interface Allocated {
  readonly suffix: string;
  readonly node: ProviderNode;
  readonly resources: ReadonlyMap<string, number>;
}

type Forest = ReadonlyMap<string, ProviderNode>;

async function readForest(call: Call): Promise<Forest> {
  const all = await listProviders(call);
  const nodes = new Map<string, ProviderNode>();
  for (const one of all.values()) {
    const root = rootOf(all, one);
    const treeAggregates = [...one.aggregates, ...(all.get(root)?.aggregates ?? [])];
    nodes.set(one.uuid, { ...one, root, used: await usedAmountsOf(call, one), treeAggregates });
  }
  return nodes;
}

/** Returns whether traits contain at least one trait of each required set, and no forbidden trait. */
export function hasTraits(
  traits: readonly string[],
  { required, forbidden }: Pick<Requirements, 'required' | 'forbidden'>,
): boolean {
  return (
    required.every((names) => traits.some((name) => names.has(name))) && !traits.some((name) => forbidden.has(name))
  );
}

/** Returns whether aggregates contain at least one aggregate of each required set, and no forbidden aggregate. */
export function isMember(
  aggregates: readonly string[],
  { memberOf, notMemberOf }: Pick<Requirements, 'memberOf' | 'notMemberOf'>,
): boolean {
  return memberOf.every((ids) => aggregates.some((id) => ids.has(id))) && !aggregates.some((id) => notMemberOf.has(id));
}

const NO_REQUIRED_SETS: readonly ReadonlySet<string>[] = [];

/**
 * Yields the alternatives that match the group without a suffix. Different providers may supply its resource classes;
 * together, they must have all required traits.
 */
function* sharedAlternatives(group: Group, nodes: readonly ProviderNode[]): Generator<readonly Allocated[]> {
  const allowedNodes = nodes.filter(
    (node) => isMember(node.treeAggregates, group) && hasTraits(node.traits, { ...group, required: NO_REQUIRED_SETS }),
  );
  const classes = [...group.resources];
  function* from(index: number, allocated: readonly Allocated[]): Generator<readonly Allocated[]> {
    const [name, amount] = classes[index] ?? [];
    if (name === undefined || amount === undefined) {
      if (
        hasTraits(
          allocated.flatMap(({ node }) => node.traits),
          { ...group, forbidden: new Set() },
        )
      )
        yield allocated;
      return;
    }
    for (const node of allowedNodes)
      if (fits(node, node.used, name, amount))
        yield* from(index + 1, [...allocated, { suffix: group.suffix, node, resources: new Map([[name, amount]]) }]);
  }
  yield* from(0, []);
}

/** Yields the alternatives for a group with a suffix. One provider must supply all its resource classes. */
function* granularAlternatives(group: Group, nodes: readonly ProviderNode[]): Generator<readonly Allocated[]> {
  for (const node of nodes)
    if (
      isMember(node.aggregates, group) &&
      hasTraits(node.traits, group) &&
      [...group.resources].every(([name, amount]) => fits(node, node.used, name, amount))
    )
      yield [{ suffix: group.suffix, node, resources: group.resources }];
}

function alternativesOf(group: Group, nodes: readonly ProviderNode[], forest: Forest): Iterable<readonly Allocated[]> {
  const tree = group.inTree === undefined ? undefined : (forest.get(group.inTree)?.root ?? '');
  const reachableNodes = tree === undefined ? nodes : nodes.filter(({ root }) => root === tree);
  return group.suffix === '' ? sharedAlternatives(group, reachableNodes) : granularAlternatives(group, reachableNodes);
}

/** Yields all combinations that contain one alternative for each request group. */
function* combinations(
  groups: readonly Group[],
  nodes: readonly ProviderNode[],
  forest: Forest,
): Generator<readonly Allocated[]> {
  const [first, ...rest] = groups;
  if (!first) return yield [];
  for (const alternative of alternativesOf(first, nodes, forest))
    for (const others of combinations(rest, nodes, forest)) yield [...alternative, ...others];
}

/** Returns the total amounts, by provider and resource class. */
function totalsOf(allocated: readonly Allocated[]): ReadonlyMap<ProviderNode, Readonly<Record<string, number>>> {
  const totals = new Map<ProviderNode, Readonly<Record<string, number>>>();
  for (const { node, resources } of allocated) {
    if (resources.size === 0) continue;
    const sums = { ...totals.get(node) };
    for (const [name, amount] of resources) sums[name] = (sums[name] ?? 0) + amount;
    totals.set(node, sums);
  }
  return totals;
}

function isAncestorOrSelf(ancestor: ProviderNode, node: ProviderNode, forest: Forest): boolean {
  if (ancestor === node) return true;
  const parent = node.parent === null ? undefined : forest.get(node.parent);
  return parent !== undefined && isAncestorOrSelf(ancestor, parent, forest);
}

function isAllowed({ isolates, subtrees }: CandidateRequest, allocated: readonly Allocated[], forest: Forest): boolean {
  const granularAllocations = allocated.filter(({ suffix }) => suffix !== '');
  if (isolates && new Set(granularAllocations.map(({ node }) => node)).size < granularAllocations.length) return false;
  const haveCommonAncestor = (suffixes: ReadonlySet<string>) => {
    const nodes = granularAllocations.filter(({ suffix }) => suffixes.has(suffix)).map(({ node }) => node);
    return nodes.some((top) => nodes.every((node) => isAncestorOrSelf(top, node, forest)));
  };
  if (!subtrees.every(haveCommonAncestor)) return false;
  return [...totalsOf(allocated)].every(([node, sums]) =>
    Object.entries(sums).every(
      ([name, sum]) =>
        sum <= (node.inventories[name]?.max_unit ?? 0) && sum <= capacityOf(node, name) - (node.used[name] ?? 0),
    ),
  );
}

/** Returns the providers of a tree, and those that share resources with the tree through an aggregate. */
function nodesOf(root: string, all: readonly ProviderNode[]): readonly ProviderNode[] {
  const treeNodes = all.filter((node) => node.root === root);
  const treeAggregateIds = new Set(treeNodes.flatMap(({ aggregates }) => aggregates));
  const sharingNodes = all.filter(
    (node) =>
      node.root !== root &&
      node.traits.includes(SHARING_TRAIT) &&
      node.aggregates.some((id) => treeAggregateIds.has(id)),
  );
  return [...treeNodes, ...sharingNodes];
}

/** Returns the ids of the providers that each request group uses, by the group's suffix. */
function providersByGroup(allocated: readonly Allocated[]): Readonly<Record<string, readonly string[]>> {
  const mappings: Record<string, readonly string[]> = {};
  for (const { suffix, node } of allocated)
    mappings[suffix] = [...new Set([...(mappings[suffix] ?? []), node.uuid])].sort();
  return mappings;
}

/** Returns whether each provider belongs to a different tree. Microversions before 1.29 require this. */
function usesEachTreeOnce(allocated: readonly Allocated[]): boolean {
  const nodes = [...totalsOf(allocated).keys()];
  return new Set(nodes.map(({ root }) => root)).size === nodes.length;
}

/** Finds distinct combinations of providers that satisfy a request, up to the request's limit. */
function findCombinations(
  request: CandidateRequest,
  forest: Forest,
  supportsTrees: boolean,
): readonly (readonly Allocated[])[] {
  const all = [...forest.values()];
  const found = new Map<string, readonly Allocated[]>();
  for (const { uuid: root, traits } of all.filter(({ parent }) => parent === null)) {
    if (!hasTraits(traits, request.root)) continue;
    const nodes = nodesOf(root, all);
    for (const allocated of combinations(request.groups, nodes, forest)) {
      if (!isAllowed(request, allocated, forest) || !(supportsTrees || usesEachTreeOnce(allocated))) continue;
      const amounts = [...totalsOf(allocated)].map(([node, sums]) => [node.uuid, Object.entries(sums).sort()]).sort();
      found.set(JSON.stringify([amounts, Object.entries(providersByGroup(allocated)).sort()]), allocated);
      if (found.size >= request.limit) return [...found.values()];
    }
  }
  return [...found.values()];
}

function summaryOf(call: Call, node: ProviderNode, requestedClasses: ReadonlySet<string>) {
  const shown = Object.keys(node.inventories).filter((name) => isAtLeast(call, 27) || requestedClasses.has(name));
  return {
    resources: Object.fromEntries(
      shown.map((name) => [name, { capacity: capacityOf(node, name), used: node.used[name] ?? 0 }]),
    ),
    ...(isAtLeast(call, 17) && { traits: node.traits }),
    ...(isAtLeast(call, 29) && { root_provider_uuid: node.root, parent_provider_uuid: node.parent }),
  };
}

/** Handles `GET /allocation_candidates`, which returns the combinations of providers that can satisfy a request. */
export async function listCandidates(call: Call) {
  const request = await parseCandidateRequest(call);
  const forest = await readForest(call);
  const isNested = isAtLeast(call, 29);
  const found = findCombinations(request, forest, isNested);
  const usedNodes = new Set(found.flatMap((allocated) => [...totalsOf(allocated).keys()]));
  const trees = new Set([...usedNodes].map(({ root }) => root));
  const shown = [...forest.values()].filter((node) => (isNested ? trees.has(node.root) : usedNodes.has(node)));
  const requestedClasses = new Set(request.groups.flatMap(({ resources }) => [...resources.keys()]));
  return {
    allocation_requests: found.map((allocated) => {
      const amounts = [...totalsOf(allocated)];
      return {
        allocations: isAtLeast(call, 12)
          ? Object.fromEntries(amounts.map(([{ uuid }, resources]) => [uuid, { resources }]))
          : amounts.map(([{ uuid }, resources]) => ({ resource_provider: { uuid }, resources })),
        ...(isAtLeast(call, 34) && { mappings: providersByGroup(allocated) }),
      };
    }),
    provider_summaries: Object.fromEntries(shown.map((node) => [node.uuid, summaryOf(call, node, requestedClasses)])),
  };
}
