import { prepareArrival } from '../moves/arrival.js';
import { LiveMove } from '../moves/live-move.js';
import type { OngoingMove } from '../moves/ongoing-move.js';
import type { DriverOperations, OperationRequest } from './operation-request.js';

/** Waits for the end of a live migration. Aborting the signal ends only the wait, not the migration. */
function waitForEnd({ done }: OngoingMove, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abortListener = () => reject(signal.reason);
    signal.addEventListener('abort', abortListener, { once: true });
    done.then(resolve, reject).finally(() => signal.removeEventListener('abort', abortListener));
  });
}

type MoveRequest = Pick<OperationRequest<'live_migration_run'>, 'host' | 'server'> & {
  readonly work: { readonly destHost: string };
};

/** Returns a server's live migration. If an earlier process started it, the migration is completed or rolled back. */
function getMove({ host, server, work }: MoveRequest, mayStart: boolean): OngoingMove {
  return host.moves.get(server.id) ?? new LiveMove(host, server, work.destHost, mayStart);
}

/** The steps of a live migration. */
export const moveOperations: DriverOperations = {
  live_migration_queue: async () => {},
  live_migration_prepare: ({ host, server, signal }) => prepareArrival(host, server, server.host ?? '', signal),
  live_migration_run: (request) => waitForEnd(getMove(request, true), request.signal),
  live_migration_force_complete: async (request) => {
    const move = getMove(request, false);
    await move.pauseToComplete();
    await waitForEnd(move, request.signal);
  },
  live_migration_abort: async (request) => {
    await getMove(request, false).abort();
  },
  /** Checks that the machine, which was resumed when it arrived, is running on this host. */
  live_migration_finish: async ({ host, server }) => {
    await host.machine(server).qmp();
  },
};
