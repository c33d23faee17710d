/**
 * Returns the stack of the running function as text, one `    at ...` line per frame.
 *
 * @param above omits this function and all functions that it called
 */
export function stackText(above: (...args: never[]) => unknown, frames: number): string {
  const limit = Error.stackTraceLimit;
  const holder: { stack?: unknown } = {};
  // Reflect.set fails silently if the intrinsics are frozen; the stack then has the default length.
  Reflect.set(Error, 'stackTraceLimit', frames);
  Error.captureStackTrace(holder, above);
  const text = String(holder.stack);
  Reflect.set(Error, 'stackTraceLimit', limit);
  return framesOf(text);
}

/** Returns the frames of an error's stack, without the error message and the frames of Node's async hooks. */
export function framesOf(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !line.includes('node:internal/async_hooks'))
    .join('\n');
}
