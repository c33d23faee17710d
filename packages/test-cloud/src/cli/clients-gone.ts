import type { TestCloud } from '../test-cloud.js';

/** Resolves when clients have come and then nobody has asked anything for so many milliseconds. */
export function clientsGone({ onRequest }: Pick<TestCloud, 'onRequest'>, idleMs: number): Promise<void> {
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
