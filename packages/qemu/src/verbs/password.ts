import type { Server } from '@apistrata/compute-engine';
import type { DriverVerb, Obstacle } from '@apistrata/compute-engine/drivers';
import { askAgent, hasAgent } from '../guest/guest-agent.js';
import type { Host } from '../host.js';
import { optionsOfServer } from '../tuning/machine-options.js';
import type { Verbs } from './order.js';

/** Whose password it is: the image may say so. */
function administrator(server: Server): string {
  const option = optionsOfServer(server);
  return option('administrator') || (option('system') === 'windows' ? 'Administrator' : 'root');
}

const NO_AGENT = 'QEMU guest agent is not enabled: the image does not say that there is one.';

/** What keeps the guest of a server from taking a password, or from being quiet. */
export async function obstacleTo(host: Host, verb: DriverVerb, server: Server): Promise<Obstacle | null> {
  if (verb === 'quiesce' && !hasAgent(server)) return { code: 'NOT_SUPPORTED', message: NO_AGENT };
  if (verb !== 'set_password') return null;
  const conflict = (message: string): Obstacle => ({ code: 'CONFLICT', message });
  if (!hasAgent(server))
    return conflict(`The image of instance ${server.id} does not say that there is an agent in the guest.`);
  const machine = host.machine(server);
  if (!(await machine.isGoing())) return conflict(`Instance ${server.id} is not running.`);
  return askAgent(machine.folder.file('agent'), 'guest-ping').then(
    () => null,
    () => ({ code: 'NOT_SUPPORTED', message: `The agent in the guest of instance ${server.id} does not answer.` }),
  );
}

/** What is told to the agent in a guest. */
export const password: Verbs = {
  set_password: async ({ host, work, server }) => {
    await askAgent(host.machine(server).folder.file('agent'), 'guest-set-user-password', {
      username: administrator(server),
      password: Buffer.from(work.adminPassword).toString('base64'),
      crypted: false,
    });
  },
};
