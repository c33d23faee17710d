import { prepareArrival } from '../moves/arrival.js';
import { LiveMove } from '../moves/live-move.js';
import type { OngoingMove } from '../moves/ongoing-move.js';
import type { Order, Verbs } from './order.js';

/** Waits for the end of a move, as long as somebody wants to know it. The move goes on. */
function ended({ done }: OngoingMove, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(signal.reason);
    signal.addEventListener('abort', gone, { once: true });
    done.then(resolve, reject).finally(() => signal.removeEventListener('abort', gone));
  });
}

type MoveOrder = Pick<Order<'live_migration_run'>, 'host' | 'server'> & {
  readonly work: { readonly destHost: string };
};

/** The move of a server; one of a former process comes to an end, whichever it is. */
function moveOf({ host, server, work }: MoveOrder, begins: boolean): OngoingMove {
  return host.moves.get(server.id) ?? new LiveMove(host, server, work.destHost, begins);
}

/** To another host, with the guest running. */
export const moving: Verbs = {
  live_migration_queue: async () => {},
  live_migration_prepare: ({ host, server, signal }) => prepareArrival(host, server, server.host ?? '', signal),
  live_migration_run: (order) => ended(moveOf(order, true), order.signal),
  live_migration_force_complete: async (order) => {
    const move = moveOf(order, false);
    await move.hurry();
    await ended(move, order.signal);
  },
  live_migration_abort: async (order) => {
    await moveOf(order, false).abort();
  },
  /** It has gone on when it arrived; it is here, then. */
  live_migration_finish: async ({ host, server }) => {
    await host.machine(server).qmp();
  },
};
