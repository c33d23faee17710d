/**
 * Executes steps one after the other and continues after a failure.
 *
 * @throws the first error, after the last step has been executed
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
