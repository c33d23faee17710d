/** Does one after the other, also where one before it has failed. Throws the first of the errors, when all are done. */
export async function closeInTurn(...steps: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
