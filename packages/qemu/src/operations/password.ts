import type { Server } from '@apistrata/compute-engine';
import type { DriverVerb, UnsupportedReason } from '@apistrata/compute-engine/drivers';
import { callAgent, hasAgent } from '../guest/guest-agent.js';
import type { Host } from '../host.js';
import { optionsOfServer } from '../tuning/machine-options.js';
import type { DriverOperations } from './operation-request.js';

/** Returns the name of the account whose password is changed. The image can set this name. */
function administratorName(server: Server): string {
  const option = optionsOfServer(server);
  return option('administrator') || (option('system') === 'windows' ? 'Administrator' : 'root');
}

const NO_AGENT_MESSAGE = 'QEMU guest agent is not enabled: the image does not declare one.';

/** Returns why an operation that needs the guest agent is impossible; null if it is possible. */
export async function findObstacle(host: Host, verb: DriverVerb, server: Server): Promise<UnsupportedReason | null> {
  if (verb === 'quiesce' && !hasAgent(server)) return { code: 'NOT_SUPPORTED', message: NO_AGENT_MESSAGE };
  if (verb !== 'set_password') return null;
  const createConflict = (message: string): UnsupportedReason => ({ code: 'CONFLICT', message });
  if (!hasAgent(server)) return createConflict(`The image of instance ${server.id} does not declare a guest agent.`);
  const machine = host.machine(server);
  if (!(await machine.isRunning())) return createConflict(`Instance ${server.id} is not running.`);
  return callAgent(machine.folder.file('agent'), 'guest-ping').then(
    () => null,
    () => ({ code: 'NOT_SUPPORTED', message: `The agent in the guest of instance ${server.id} does not respond.` }),
  );
}

/** Changes passwords through the guest agent. */
export const passwordOperations: DriverOperations = {
  set_password: async ({ host, work, server }) => {
    await callAgent(host.machine(server).folder.file('agent'), 'guest-set-user-password', {
      username: administratorName(server),
      password: Buffer.from(work.adminPassword).toString('base64'),
      crypted: false,
    });
  },
};
