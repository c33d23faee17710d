import type { DriverWork } from '../../drivers/driver.js';
import type { PowerState, VmState } from '../../model/index.js';
import { type Action, action, type NoArguments } from '../runner/action.js';

/** An action that consists of one driver command. */
interface MachineAction<Name extends string>
  extends Omit<Action<Name>, 'run' | 'fail' | 'cleanUpAfterTakeover' | 'concurrent'> {
  readonly work: DriverWork;
  /** Name of the event in the server's action history. */
  readonly event: string;
  /** State of the server after the action. */
  readonly vmState: VmState;
  readonly powerState: PowerState;
}

/** Defines an action that consists of one driver command. */
export function machineAction<const Name extends string>({
  work,
  event,
  vmState,
  powerState,
  ...record
}: MachineAction<Name>): Action<Name, void, NoArguments, void> {
  return action<Name>({
    ...record,
    run: async (run) => {
      await run.passThrough(record.during.slice(0, -1));
      await run.perform(work, record.during.at(-1), event);
      await run.end({ vmState, powerState });
    },
  });
}
