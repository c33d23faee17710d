import type { TestCloud } from '../test-cloud.js';

/** Resolves when clients have connected and then sent no request for a time in milliseconds. */
export function untilClientsClose({ onRequest }: Pick<TestCloud, 'onRequest'>, idleMs: number): Promise<void> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const end = onRequest(() => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        end();
        resolve();
      }, idleMs);
    });
  });
}
