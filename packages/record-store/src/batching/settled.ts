/**
 * Statements of one transaction that need not wait for each other. Like `Promise.all`, but nothing is left under way
 * when it throws: a statement that comes after the end of its transaction would be kept.
 */
export async function settled<T extends readonly unknown[]>(
  statements: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const outcomes = await Promise.allSettled(statements);
  const failed = outcomes.find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
  return outcomes.map((outcome) => (outcome as PromiseFulfilledResult<unknown>).value) as never;
}
