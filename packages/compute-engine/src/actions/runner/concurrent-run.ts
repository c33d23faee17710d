import type { Tx } from '@apistrata/record-store';
import { LeaseLost } from '../../jobs/worker.js';
import type { Server, ServerPatch } from '../../model/index.js';
import { type AdditionalWrite, ServerRun } from './server-run.js';
import { Superseded } from './superseded.js';

/**
 * A job that runs concurrently with the job that owns the server. Volumes, interfaces and shares are attached and
 * detached without a task state, so such a job must neither interrupt the server's next action nor be interrupted by
 * it: it never becomes the server's `jobId`. Instead
 * - it names the one item it works on (a device, a port, a share) by an id that the request chose;
 * - every write reads the server under its lock and changes only that item;
 * - if the item no longer exists, another job has removed it: the job releases what it acquired and ends.
 * So any number of such jobs, and the job that owns the server, write to it without losing each other's changes.
 */
export class ConcurrentRun<Arguments = unknown> extends ServerRun<Arguments> {
  protected override readonly concurrent = true;

  /** Changes the current server with `make`, which throws `Superseded` if the item no longer exists. */
  change(make: (server: Server) => ServerPatch | undefined): Promise<Server> {
    return this.update({}, async (_tx, server) => make(server));
  }

  /** The last write. It keeps the task state and owner of the server, which belong to another job. */
  override async finish(patch: ServerPatch, also?: AdditionalWrite): Promise<void> {
    await this.write(patch, { also, last: true });
  }

  protected override async ownershipError(tx: Tx, server: Server): Promise<Superseded | LeaseLost | undefined> {
    // The server does not name this job, so the lease shows whether another attempt has it.
    if (!(await this.core.worker.holds(tx, this.job.id))) return new LeaseLost(this.job.id);
    // A deletion has already read the resources to release, so this job must release resources that it adds later.
    const ending = server.deleted || server.taskState === 'deleting';
    return ending ? new Superseded(`${server.id} is being deleted`) : undefined;
  }
}
