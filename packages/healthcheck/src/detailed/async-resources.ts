import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { captureStackText } from './stack-text.js';

/** The kinds of asynchronous resources that are tracked from creation to destruction. */
export type TrackedResources = 'none' | 'withoutPromises' | 'all';

/** The number of pending resources above which new ones are listed without a stack trace. */
const MAX_STACKS = 10_000;
const STACK_FRAMES = 14;

/** The pending asynchronous resources of this thread. */
export interface AsyncResources {
  /**
   * Returns one entry per pending resource, oldest first: its type, its async ids, and the stack trace of its creation.
   * If resources are not tracked, an entry contains only the type.
   */
  list(): readonly string[];
  /**
   * Calls `respond`, which responds to a probe. Resources that the probe creates are not listed until its response has
   * ended.
   */
  duringProbe(res: ClosableResponse, respond: () => void): void;
  stop(): void;
}

/** A response that emits `close` when it has ended. */
interface ClosableResponse {
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Lists the types of the resources that keep the process alive, as Node reports them. This works without tracking, and
 * without overhead between probes.
 */
function listActiveResources(): AsyncResources {
  return {
    list: () => process.getActiveResourcesInfo(),
    duringProbe: (_res, respond) => respond(),
    stop: () => undefined,
  };
}

interface PendingResource {
  readonly text: string;
  /** The probe that created the resource; undefined if application code created it. */
  readonly probe: { over: boolean } | undefined;
}

/**
 * Tracks asynchronous resources from creation to destruction. Each resource costs a stack trace, and each `await`
 * creates a resource, so tracking is off by default. Resources that already exist are not listed.
 */
function trackResources(withPromises: boolean): AsyncResources {
  const pendingResources = new Map<number, PendingResource>();
  const probeContext = new AsyncLocalStorage<{ over: boolean }>();

  function init(id: number, type: string, triggerId: number): void {
    if (type === 'PROMISE' && !withPromises) return;
    const title = `${type} (async id ${id}, triggered by ${triggerId})`;
    // The stack is formatted immediately, because an Error whose stack is unformatted retains the objects in its
    // frames, including the resource.
    const text = pendingResources.size < MAX_STACKS ? `${title}\n${captureStackText(init, STACK_FRAMES)}` : title;
    pendingResources.set(id, { text, probe: probeContext.getStore() });
  }

  function removeResource(id: number): void {
    pendingResources.delete(id);
  }

  const hook = createHook(
    withPromises
      ? { init, destroy: removeResource, promiseResolve: removeResource }
      : { init, destroy: removeResource },
  );
  hook.enable();

  return {
    list: () => [...pendingResources.values()].filter(({ probe }) => !probe || probe.over).map(({ text }) => text),
    duringProbe(res, respond) {
      const probe = { over: false };
      res.once('close', () => {
        probe.over = true;
      });
      probeContext.run(probe, respond);
    },
    stop() {
      hook.disable();
      probeContext.disable();
      pendingResources.clear();
    },
  };
}

/**
 * Starts to track pending resources. If `tracked` is `none`, they are not tracked, and only the types that Node
 * reports are listed.
 */
export function watchAsyncResources(tracked: TrackedResources): AsyncResources {
  return tracked === 'none' ? listActiveResources() : trackResources(tracked === 'all');
}
