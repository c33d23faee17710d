import type { Tx } from '@apistrata/record-store';
import { LeaseLost } from '../../jobs/worker.js';
import type { Server, ServerPatch } from '../../model/index.js';
import { type AlsoWrite, ServerRun } from './server-run.js';
import { Superseded } from './superseded.js';

/**
 * A job beside the one that owns a server. Volumes, interfaces and shares come and go without a task state, so such a
 * job must neither stop the server's next action nor be stopped by it: it never becomes the server's `jobId`. Instead
 * - it names the one thing it works on (a device, a port, a share) by an id that the request chose;
 * - every write reads the server under its lock and changes that one thing of what is there now, nothing else;
 * - a thing that is no longer there means somebody else has ended it: the job gives back what it took and is done.
 * So any number of such jobs, and the job that owns the server, write to it without losing each other's changes.
 */
export class ConcurrentRun<Arguments = unknown> extends ServerRun<Arguments> {
  protected override readonly beside = true;

  /** The server as it is now is changed by `make`; it throws `Superseded` when its thing is gone. */
  change(make: (server: Server) => ServerPatch | undefined): Promise<Server> {
    return this.update({}, async (_tx, server) => make(server));
  }

  /** The last write. Task and owner of the server are not this job's to end. */
  override async finish(patch: ServerPatch, also?: AlsoWrite): Promise<void> {
    await this.write(patch, { also, last: true });
  }

  protected override async overtaken(tx: Tx, server: Server): Promise<Superseded | LeaseLost | undefined> {
    // The server does not name this job: the lease itself says whether another attempt has it.
    if (!(await this.core.worker.holds(tx, this.job.id))) return new LeaseLost(this.job.id);
    // A deletion has read what it is to give back: what comes later is this job's own to give back.
    const ending = server.deleted || server.taskState === 'deleting';
    return ending ? new Superseded(`${server.id} is being deleted`) : undefined;
  }
}
