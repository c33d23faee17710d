import { describe, expect, it } from 'vitest';
import type { Server } from '../model/index.js';
import type { Driver, DriverWork } from './driver.js';
import { createLocalMachines } from './machines.js';

const work: DriverWork = { verb: 'prepare', step: 'networking' };
const request = { work, server: { id: 's1' } as Server, origin: { action: 'create', requestId: 'req-1' } };

/** Returns the commands that a driver receives when a preparation step is executed in this process. */
async function receivedCommands(supports?: Driver['supports']) {
  const received: DriverWork[] = [];
  const driver = { perform: async (command: DriverWork) => void received.push(command), ...(supports && { supports }) };
  await createLocalMachines(driver as unknown as Driver).perform(request, new AbortController().signal);
  return received;
}

describe('a preparation step in this process', () => {
  it('is executed by a driver, unless the driver does not support it', async () => {
    expect(await receivedCommands()).toEqual([work]);
    expect(await receivedCommands(() => true)).toEqual([work]);
    expect(await receivedCommands((verb) => verb !== 'prepare')).toEqual([]);
  });
});
