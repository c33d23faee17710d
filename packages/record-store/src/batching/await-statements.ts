/**
 * Awaits independent statements in one transaction. Unlike `Promise.all`, this function waits for all of them before it
 * throws, because a statement that runs after its transaction has ended would not be rolled back.
 */
export async function awaitStatements<T extends readonly unknown[]>(
  statements: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const outcomes = await Promise.allSettled(statements);
  const failedOutcome = outcomes.find(({ status }) => status === 'rejected');
  if (failedOutcome) throw (failedOutcome as PromiseRejectedResult).reason;
  return outcomes.map((outcome) => (outcome as PromiseFulfilledResult<unknown>).value) as never;
}
