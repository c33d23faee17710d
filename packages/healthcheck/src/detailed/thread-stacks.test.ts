import { Session } from 'node:inspector';
import { expect, it, onTestFinished, vi } from 'vitest';
import { threadStacks } from './thread-stacks.js';

it('leaves no timer when the list of threads is unavailable', async () => {
  vi.useFakeTimers();
  const respond = vi.spyOn(Session.prototype, 'post').mockImplementation(((
    method: string,
    _parameters: object,
    callback: (error: Error | null) => void,
  ) => {
    if (method === 'NodeWorker.enable') callback(new Error('not available'));
  }) as Session['post']);
  onTestFinished(() => {
    vi.useRealTimers();
    respond.mockRestore();
  });
  expect((await threadStacks()).join('\n')).toContain('(unavailable: not available)');
  expect(vi.getTimerCount()).toBe(0);
});
