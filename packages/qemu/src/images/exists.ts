import { stat } from 'node:fs/promises';

/** Returns whether a path exists; false if it cannot be read. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
