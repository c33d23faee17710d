/** Returns the result of reading a file, or a substitute if the file does not exist. Other errors are rethrown. */
export async function ifMissing<T, U>(operation: Promise<T>, fallback: U): Promise<T | U> {
  try {
    return await operation;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return fallback;
    throw error;
  }
}
