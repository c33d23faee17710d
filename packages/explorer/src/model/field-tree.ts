import { type Part, type PartChange, parentPart } from '@apistrata/microversion-router';
import type { Site } from '../pages/site.js';
import type { ElementHistory, PartHistory } from './element-history.js';

/** A field in a tree, with its nested fields. */
export interface FieldNode {
  readonly history: PartHistory;
  /** The part at the page's version; undefined if the part does not exist at that version. */
  readonly part: Part | undefined;
  readonly change: PartChange | undefined;
  readonly children: readonly FieldNode[];
}

/**
 * Returns the fields of a request (`body`), a response (`reply`) or a query (`query`) as trees, in definition order.
 */
export function fieldTree(site: Site, element: ElementHistory, root: string): readonly FieldNode[] {
  const existingParts = element.at(site.version)?.shape.parts;
  const changes = new Map(element.changeAt(site.version)?.parts.map((change) => [change.name, change]));
  const nodes = new Map<string, FieldNode & { children: FieldNode[] }>();
  const roots: FieldNode[] = [];
  for (const history of element.parts.values()) {
    const { name } = history;
    if (name === root || !(name.startsWith(`${root}.`) || name.startsWith(`${root}[`))) continue;
    const node = { history, part: existingParts?.get(name), change: changes.get(name), children: [] };
    nodes.set(name, node);
    const parent = nodes.get(parentPart(name));
    if (parent) parent.children.push(node);
    else roots.push(node);
  }
  return roots;
}

/** Returns the trees without fields that do not exist at the page's version. */
export function keepExistingFields(nodes: readonly FieldNode[]): readonly FieldNode[] {
  return nodes.filter(({ part }) => part).map((node) => ({ ...node, children: keepExistingFields(node.children) }));
}

/** Returns all fields, at any depth, that do not exist at the page's version. */
export function collectAbsentFields(nodes: readonly FieldNode[]): readonly FieldNode[] {
  return nodes.flatMap((node) => [
    ...(node.part ? [] : [{ ...node, children: [] }]),
    ...collectAbsentFields(node.children),
  ]);
}
