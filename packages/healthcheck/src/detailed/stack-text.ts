/**
 * The stack of the running function as text, one `    at ...` line per frame.
 *
 * @param above the function that is the first one not shown, with everything it called
 */
export function stackText(above: (...args: never[]) => unknown, frames: number): string {
  const limit = Error.stackTraceLimit;
  const holder: { stack?: unknown } = {};
  // Reflect.set fails silently where the intrinsics are frozen; the stack is then as long as the process allows.
  Reflect.set(Error, 'stackTraceLimit', frames);
  Error.captureStackTrace(holder, above);
  const text = String(holder.stack);
  Reflect.set(Error, 'stackTraceLimit', limit);
  return framesOf(text);
}

/** The frames of an error's stack, without its message and without the machinery that asked for it. */
export function framesOf(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !line.includes('node:internal/async_hooks'))
    .join('\n');
}
