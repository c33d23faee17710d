/**
 * Executes steps one after another, and continues if one of them fails.
 *
 * @throws the first error, after all steps have been executed
 */
export async function closeInOrder(...steps: readonly (() => unknown)[]): Promise<void> {
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
