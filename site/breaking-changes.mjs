// The breaking changes of the compute API, version by version, from its operations.

/** The tag of operations that repeat the servers API. */
const MIRROR = 'volumes-boot';

/** Joins the parts of an operation that have the same reason. */
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
