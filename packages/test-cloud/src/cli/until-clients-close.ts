import type { TestCloud } from '../test-cloud.js';

/** Resolves after clients have connected and then sent no request for `idleMs` milliseconds. */
export function waitForIdleClients({ onRequest }: Pick<TestCloud, 'onRequest'>, idleMs: number): Promise<void> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const unsubscribe = onRequest(() => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        unsubscribe();
        resolve();
      }, idleMs);
    });
  });
}
