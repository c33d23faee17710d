/** Returns the result of reading a file, or a substitute if the file does not exist. Other errors are rethrown. */
export async function ifMissing<T, U>(reading: Promise<T>, instead: U): Promise<T | U> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return instead;
    throw error;
  }
}
