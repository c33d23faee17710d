import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { stackText } from './stack-text.js';

/** The kinds of asynchronous resources that are tracked from creation to destruction. */
export type FollowedResources = 'none' | 'all but promises' | 'all';

/** Beyond this number, pending resources are listed without a stack trace. */
const MAX_STACKS = 10_000;
const STACK_FRAMES = 14;

/** The pending asynchronous resources of this thread. */
export interface AsyncResources {
  /**
   * One entry per resource, oldest first: type and ids, then the stack trace of its creation. Only the type if it is
   * not tracked.
   */
  list(): readonly string[];
  /** Excludes resources that the probe itself creates from lists until it has ended. */
  duringProbe(res: Ending, respond: () => void): void;
  stop(): void;
}

/** The `finish` and `close` events of a response. */
interface Ending {
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Lists the resources that keep the process alive, as Node reports them: without tracking, and without cost between
 * responses.
 */
function activeResources(): AsyncResources {
  return {
    list: () => process.getActiveResourcesInfo(),
    duringProbe: (_res, respond) => respond(),
    stop: () => undefined,
  };
}

interface Pending {
  readonly text: string;
  /** The probe that created it. */
  readonly probe: { over: boolean } | undefined;
}

/**
 * Tracks asynchronous resources from creation to destruction. This costs a stack trace per resource, and programs that
 * await much create very many, so it runs only if configured. Resources created before are not listed.
 */
function followedResources(withPromises: boolean): AsyncResources {
  const pending = new Map<number, Pending>();
  const probes = new AsyncLocalStorage<{ over: boolean }>();

  function init(id: number, type: string, triggerId: number): void {
    if (type === 'PROMISE' && !withPromises) return;
    const title = `${type} (async id ${id}, triggered by ${triggerId})`;
    // Converted to text immediately: an Error would keep everything alive that its frames refer to, including the
    // resource.
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
