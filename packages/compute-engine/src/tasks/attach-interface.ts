import { type RequestedPort, withoutPort } from '../ports/server-interface.js';
import { returnPort } from '../ports/server-ports.js';
import { ifStillThere } from './attached-volume.js';
import type { SideTask } from './side-run.js';

/**
 * What is left to do when the request that attached an interface never came to its end. Nobody was told that the
 * interface is there, so it is taken away.
 */
export const attachInterfaceTask: SideTask = {
  action: 'attachInterface',
  run: (run) => attachInterfaceTask.undo(run),
  undo: async (run) => {
    const asked = run.arguments as RequestedPort;
    await returnPort(run, asked);
    await ifStillThere(() => run.change(({ interfaces }) => ({ interfaces: withoutPort(interfaces, asked.portId) })));
  },
};
