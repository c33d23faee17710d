import { keyOf, LATEST, type ListedOperation } from './reference.js';

/** The results of the contract test for an operation. */
export interface Proof {
  readonly listed: ListedOperation;
  /** The versions before and after each change to the operation. The test calls the operation at all of them. */
  readonly edges: readonly string[];
  readonly successes: Set<number>;
  readonly rejections: Set<number>;
  /** The response to a member of another project. */
  tenancy: string;
}

const sorted = (statuses: Iterable<number>) => [...statuses].sort((a, b) => a - b).join(' ') || '-';

function rowOf(listed: ListedOperation, proof: Proof | undefined): string {
  const key = `\`${keyOf(listed)}\``;
  if (listed.base) return `| ${key} | all | no version | 200 or 300 | - | - |`;
  // If a body does not name an action, the request is rejected before the removed operation can be identified.
  const always = listed.action ? '400 410' : '410';
  if (listed.removed) return `| ${key} | removed | 2.1 2.35 2.36 2.100 2.102 ${LATEST} | - | ${always} | 410 |`;
  if (!proof) return `| ${key} | **not covered** | | | | |`;
  const window = `${listed.since} to ${listed.until ?? 'latest'}`;
  const { edges, successes, rejections, tenancy } = proof;
  return `| ${key} | ${window} | ${edges.join(' ')} | ${sorted(successes)} | ${sorted(rejections)} | ${tenancy} |`;
}

/** Returns the page that shows the tested parts of each operation. */
export function coveragePage(all: readonly ListedOperation[], proofs: ReadonlyMap<string, Proof>): string {
  return `# What the contract test covers

The contract test in \`packages/compute-router/test/contract\` generates this page. Each operation exists in a range of versions, its
*window*. The test calls every operation in \`reference/operations.json\` at the oldest and the newest version, and on both sides of each
version boundary at which the operation appears or disappears, or at which its success status or query parameters change. Outside the
window, the response must be 404; inside the window, it must have a listed success status. The test also calls each operation without a
token, without the required role, with an invalid body or query, with unknown ids, and as a member of another project, whose call must not
change anything. Other tests of the package cover errors that need more preparation.

| Operation | Window | Versions tried | Successes | Rejections | Another project's member |
|---|---|---|---|---|---|
${all.map((listed) => rowOf(listed, proofs.get(keyOf(listed)))).join('\n')}
`;
}
