/** Returns a substitute if a file does not exist; other errors are rethrown. */
export async function ifMissing<T, U>(reading: Promise<T>, instead: U): Promise<T | U> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return instead;
    throw error;
  }
}
