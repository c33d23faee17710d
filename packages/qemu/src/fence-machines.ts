import type { FenceAction } from '@apistrata/compute-engine/drivers';
import type { Host } from './host.js';

async function fenceMachine(host: Host, id: string, how: FenceAction): Promise<boolean> {
  const machine = host.machine({ id });
  if (how === 'stop') {
    const runs = (await machine.running()) !== undefined;
    if (runs) await machine.end();
    return runs;
  }
  const runs = await machine.isRunning();
  if (runs) await (await machine.qmp()).execute('stop');
  return runs;
}

/** Switches off or pauses all machines of a computer that run. Returns the ids of their servers. */
export async function fenceMachines(host: Host, how: FenceAction): Promise<readonly string[]> {
  const ids = await host.machineIds();
  const fenced = await Promise.all(ids.map((id) => fenceMachine(host, id, how)));
  return ids.filter((_, index) => fenced[index]);
}
