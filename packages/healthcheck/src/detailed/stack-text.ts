/**
 * Returns the stack of the running function as text, one `    at ...` line per frame.
 *
 * @param topFunction the function to omit from the stack, together with all functions that it called
 */
export function captureStackText(topFunction: (...args: never[]) => unknown, frames: number): string {
  const originalLimit = Error.stackTraceLimit;
  const stackHolder: { stack?: unknown } = {};
  // Reflect.set fails silently if the intrinsics are frozen; the stack then has the default length.
  Reflect.set(Error, 'stackTraceLimit', frames);
  Error.captureStackTrace(stackHolder, topFunction);
  const text = String(stackHolder.stack);
  Reflect.set(Error, 'stackTraceLimit', originalLimit);
  return framesOf(text);
}

/** Returns the frames of an error's stack, without the error message and the frames of Node's async hooks. */
export function framesOf(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !line.includes('node:internal/async_hooks'))
    .join('\n');
}
