import { createHook } from 'node:async_hooks';
import { stackText } from './stack-text.js';

/** With more pending resources than this, the further ones are listed without the place that made them. */
const MAX_STACKS = 10_000;
const STACK_FRAMES = 14;

/** The pending asynchronous resources of this thread. */
export interface AsyncResources {
  /** One entry each, oldest first: type and ids, then the stack that made it. */
  list(): readonly string[];
  stop(): void;
}

/**
 * Follows every asynchronous resource from its creation to its end. This costs a stack trace per resource, so it runs
 * only while a detailed endpoint exists. What was pending before is not seen.
 *
 * @param withPromises includes promises, of which a program makes many more than of everything else
 */
export function watchAsyncResources(withPromises: boolean): AsyncResources {
  const pending = new Map<number, string>();

  function init(id: number, type: string, triggerId: number): void {
    if (type === 'PROMISE' && !withPromises) return;
    const title = `${type} (async id ${id}, triggered by ${triggerId})`;
    // As text at once: a kept Error keeps alive what its frames refer to, the very resource included.
    pending.set(id, pending.size < MAX_STACKS ? `${title}\n${stackText(init, STACK_FRAMES)}` : title);
  }

  function end(id: number): void {
    pending.delete(id);
  }

  const hook = createHook(withPromises ? { init, destroy: end, promiseResolve: end } : { init, destroy: end });
  hook.enable();

  return {
    list: () => [...pending.values()],
    stop() {
      hook.disable();
      pending.clear();
    },
  };
}
