// The breaking changes of the compute API, version by version, from its operations.

/** The tag of operations that duplicate those of the servers API. */
const MIRROR = 'volumes-boot';

/** Groups the changed parts of an operation by the reason why their change is breaking. */
function reasonsOf({ change, parts }) {
  if (change === 'removed') return [{ reason: 'is removed', names: [] }];
  const reasons = new Map();
  for (const { name, breaking } of parts) {
    if (breaking) reasons.set(breaking, [...(reasons.get(breaking) ?? []), name]);
  }
  return [...reasons].map(([reason, names]) => ({ reason, names }));
}

/** Returns the breaking changes of all versions: the version, the operation, and the reasons. */
export function breakingChanges({ operations, computeApiHistory, changesBetween }) {
  const versions = Object.keys(computeApiHistory);
  const changes = versions.slice(1).flatMap((version, index) =>
    changesBetween(operations, versions[index], version)
      .filter(({ breaking, tag }) => breaking && tag !== MIRROR)
      .map((change) => ({ version, operation: change.operation, summary: change.summary, reasons: reasonsOf(change) })),
  );
  return { versions, changes };
}
