import { keyOf, LATEST, type ListedOperation } from './reference.js';

/** What the contract test has seen of an operation. */
export interface Proof {
  readonly listed: ListedOperation;
  /** Versions on either side of each change of its history, all of them tried. */
  readonly edges: readonly string[];
  readonly successes: Set<number>;
  readonly refusals: Set<number>;
  /** What a member of another project is answered. */
  tenancy: string;
}

const sorted = (statuses: Iterable<number>) => [...statuses].sort((a, b) => a - b).join(' ') || '-';

function rowOf(listed: ListedOperation, proof: Proof | undefined): string {
  const key = `\`${keyOf(listed)}\``;
  if (listed.base) return `| ${key} | all | no version | 200 or 300 | - | - |`;
  // Only a body that names no action is refused before its operation is known.
  const always = listed.action ? '400 410' : '410';
  if (listed.removed) return `| ${key} | removed | 2.1 2.35 2.36 2.100 2.102 ${LATEST} | - | ${always} | 410 |`;
  if (!proof) return `| ${key} | **not covered** | | | | |`;
  const window = `${listed.since} to ${listed.until ?? 'latest'}`;
  const { edges, successes, refusals, tenancy } = proof;
  return `| ${key} | ${window} | ${edges.join(' ')} | ${sorted(successes)} | ${sorted(refusals)} | ${tenancy} |`;
}

/** The page that says of each operation what is tested. */
export function coveragePage(all: readonly ListedOperation[], proofs: ReadonlyMap<string, Proof>): string {
  return `# What the contract test covers

Written by \`packages/compute-router/test/contract\`, which calls every operation of \`reference/operations.json\`: at both
sides of each edge of its history (404 outside its window, the listed success inside), as somebody without a token, without
the right, with nonsense in the body or the query, with ids that nothing has, and as a member of another project, after whose
call everything is as before. Other tests of the package provoke the errors that need more of a story than that.

| Operation | Window | Versions tried | Successes | Refusals | Another project's member |
|---|---|---|---|---|---|
${all.map((listed) => rowOf(listed, proofs.get(keyOf(listed)))).join('\n')}
`;
}
