import { Rejection } from '@apistrata/compute-engine';
import { action } from '@apistrata/compute-engine/actions';

/** A request to pause a server for a while. */
export interface NapRequest {
  /** The duration, at most 60. */
  readonly seconds: number;
}

/** Pauses a server for a while. Returns the number of seconds until it resumes. */
export const nap = action({
  name: 'nap',
  vmStates: ['active'],
  needs: 'pause',
  lock: true,
  during: ['pausing', 'unpausing'],
  history: 'nap',
  notifies: 'nap',
  onFailure: 'error',
  begin: async (_scope, { seconds }: NapRequest) => {
    if (seconds > 60) throw new Rejection('BAD_REQUEST', 'A nap lasts 60 seconds at most.');
    return { arguments: { seconds }, result: () => seconds };
  },
  run: async (run) => {
    await run.perform({ verb: 'pause' }, 'pausing', 'compute_nap_instance');
    await run.perform({ verb: 'unpause' }, 'unpausing', 'compute_wake_instance');
    await run.finish({ vmState: 'active', powerState: 1 });
  },
});
