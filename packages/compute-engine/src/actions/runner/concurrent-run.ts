import type { Tx } from '@apistrata/record-store';
import { LeaseLost } from '../../jobs/worker.js';
import type { Server, ServerPatch } from '../../model/index.js';
import { type AdditionalWrite, ServerRun } from './server-run.js';
import { Superseded } from './superseded.js';

/**
 * A job that runs concurrently with the job that owns the server: volumes, interfaces and shares are attached and
 * detached without a task state. The id of such a job therefore never becomes the server's `jobId`. Instead
 * - the job identifies the item that it changes (a device, a port, a share) by an id that the request chose;
 * - every write reads the server under its lock and changes only that item;
 * - if another job has removed the item, the job releases the resources that it acquired.
 */
export class ConcurrentRun<Arguments = unknown> extends ServerRun<Arguments> {
  protected override readonly concurrent = true;

  /**
   * Applies the patch that `createPatch` returns to the server record. `createPatch` throws `Superseded` if the changed
   * item no longer exists.
   */
  change(createPatch: (server: Server) => ServerPatch | undefined): Promise<Server> {
    return this.update({}, async (_tx, server) => createPatch(server));
  }

  /** Performs the job's last write. Keeps the server's task state and owner, which belong to another job. */
  override async finish(patch: ServerPatch, additionalWrite?: AdditionalWrite): Promise<void> {
    await this.write(patch, { additionalWrite, isLast: true });
  }

  protected override async ownershipError(tx: Tx, server: Server): Promise<Superseded | LeaseLost | undefined> {
    // The server does not store the id of this job, so only the lease shows whether another attempt has taken over.
    if (!(await this.core.worker.hasLease(tx, this.job.id))) return new LeaseLost(this.job.id);
    // The deletion has already read which resources to release, so this job must release those that it has acquired
    // since.
    const isBeingDeleted = server.deleted || server.taskState === 'deleting';
    return isBeingDeleted ? new Superseded(`server ${server.id} is being deleted`) : undefined;
  }
}
