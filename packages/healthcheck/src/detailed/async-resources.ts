import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { stackText } from './stack-text.js';

/** Which asynchronous resources are followed from their creation to their end. */
export type FollowedResources = 'none' | 'all but promises' | 'all';

/** With more pending resources than this, the further ones are listed without the place that made them. */
const MAX_STACKS = 10_000;
const STACK_FRAMES = 14;

/** The pending asynchronous resources of this thread. */
export interface AsyncResources {
  /** One entry each, oldest first: type and ids, then the stack that made it. Of what is not followed, the type alone. */
  list(): readonly string[];
  /** What a probe itself makes is not listed before it is over. */
  duringProbe(res: Ending, respond: () => void): void;
  stop(): void;
}

/** What tells that an answer is over. */
interface Ending {
  once(event: 'close', listener: () => void): unknown;
}

/** Lists what keeps the process alive, as the platform knows it: nothing is followed, nothing costs between answers. */
function activeResources(): AsyncResources {
  return {
    list: () => process.getActiveResourcesInfo(),
    duringProbe: (_res, respond) => respond(),
    stop: () => undefined,
  };
}

interface Pending {
  readonly text: string;
  /** The probe that made it. */
  readonly probe: { over: boolean } | undefined;
}

/**
 * Follows asynchronous resources from their creation to their end. This costs a stack trace per resource, of which a
 * program that awaits makes very many: so it runs only on request. What was pending before is not seen.
 */
function followedResources(withPromises: boolean): AsyncResources {
  const pending = new Map<number, Pending>();
  const probes = new AsyncLocalStorage<{ over: boolean }>();

  function init(id: number, type: string, triggerId: number): void {
    if (type === 'PROMISE' && !withPromises) return;
    const title = `${type} (async id ${id}, triggered by ${triggerId})`;
    // As text at once: a kept Error keeps alive what its frames refer to, the very resource included.
    const text = pending.size < MAX_STACKS ? `${title}\n${stackText(init, STACK_FRAMES)}` : title;
    pending.set(id, { text, probe: probes.getStore() });
  }

  function end(id: number): void {
    pending.delete(id);
  }

  const hook = createHook(withPromises ? { init, destroy: end, promiseResolve: end } : { init, destroy: end });
  hook.enable();

  return {
    list: () => [...pending.values()].filter(({ probe }) => !probe || probe.over).map(({ text }) => text),
    duringProbe(res, respond) {
      const probe = { over: false };
      res.once('close', () => {
        probe.over = true;
      });
      probes.run(probe, respond);
    },
    stop() {
      hook.disable();
      probes.disable();
      pending.clear();
    },
  };
}

export function watchAsyncResources(followed: FollowedResources): AsyncResources {
  return followed === 'none' ? activeResources() : followedResources(followed === 'all');
}
