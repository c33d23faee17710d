import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '@apistrata/compute-engine';
import type { MoveProgress } from '@apistrata/compute-engine/drivers';
import type { Host } from '../host.js';
import { nodeName } from '../machine/block-devices.js';
import {
  checkJobEnd,
  createJobEndMatcher,
  mirrorUntilReady,
  queryBlockNodes,
  removeJob,
} from '../machine/copy-disk.js';
import { QemuError } from '../qemu-error.js';
import {
  checkMemoryMoved,
  configureMemoryMove,
  isEndEvent,
  isEndOrPauseEvent,
  isInactive,
  mustPauseBeforeSwitchover,
  PRE_SWITCHOVER,
  queryMemoryMove,
} from '../qmp/memory-move.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import { LOCAL_DISKS, type LocalDisk } from './machine-manifest.js';
import type { OngoingMove } from './ongoing-move.js';
import type { TransferRequest } from './transfer-request.js';
import { createTransferClient } from './transfer-requests.js';
import { openTunnel, type Tunnel } from './tunnel.js';

const RETRY_INTERVAL_MS = 500;
const POLL_INTERVAL_MS = 50;

/** Returns the name of the block job that copies a disk, which is also the name of the target node. */
const copyName = (disk: LocalDisk) => `to-${disk}`;

/** Returns the error that made a tunnel fail, if any, instead of QEMU's error about a closed connection. */
function toTunnelError(error: unknown, tunnels: readonly Tunnel[]): unknown {
  const cause = tunnels.map(({ failure }) => failure).find((failure) => failure !== undefined);
  if (cause === undefined) return error;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new QemuError('MOVE_FAILED', `the connection to the other host failed: ${reason}`, { cause });
}

/**
 * The live migration of a machine to another host, where a waiting machine receives it. First, the disks are copied and
 * mirrored. Then the memory is sent while the guest runs. Finally, the guest is paused until everything has arrived.
 * Only the source decides where the guest continues: on the destination if the source requests it, and on the source if
 * the guest can no longer continue on the destination.
 */
export class LiveMove implements OngoingMove {
  readonly done: Promise<void>;
  readonly #host: Host;
  readonly #server: Server;
  readonly #destHost: string;
  /** Cancels the migration before the switchover. */
  readonly #cancellation = new AbortController();
  /** Cancels the wait for the end of the switchover and for the destination's response. */
  readonly #closing = new AbortController();

  /** @param mayStart whether to start the migration; if false, only completes it or rolls it back */
  constructor(host: Host, server: Server, destHost: string, mayStart = true) {
    this.#host = host;
    this.#server = server;
    this.#destHost = destHost;
    this.done = this.#run(mayStart).finally(() => {
      if (host.moves.get(server.id) === this) host.moves.delete(server.id);
    });
    this.done.catch(() => {});
    host.moves.set(server.id, this);
  }

  get #machine() {
    return this.#host.machine(this.#server);
  }

  /** Whether the server is active according to the API, which means that its guest must run. */
  get #isActive(): boolean {
    return this.#server.vmState === 'active';
  }

  async #run(mayStart: boolean): Promise<void> {
    const qmp = await this.#machine.connectIfRunning();
    // An earlier process sent the machine, and died before it received the destination's response.
    if (!qmp) return this.#completeOnDestination();
    const { status } = await queryMemoryMove(qmp);
    if (status === 'completed' && (await this.#isMemorySent(qmp))) return this.#completeOnDestination(qmp);
    const tunnels: Tunnel[] = [];
    let sent = false;
    try {
      await this.#cancelJobs(qmp);
      if (!mayStart) throw new QemuError('MOVE_FAILED', 'the host process ended during the move');
      await this.#send(qmp, tunnels);
      sent = true;
      await this.#completeOnDestination(qmp);
    } catch (error) {
      if (!sent) await this.#resumeHere(qmp);
      throw this.#cancellation.signal.aborted ? this.#cancellation.signal.reason : toTunnelError(error, tunnels);
    } finally {
      for (const tunnel of tunnels) await tunnel.close();
    }
  }

  async #isMemorySent(qmp: QmpClient): Promise<boolean> {
    return (await qmp.execute<{ status: string }>('query-status')).status === 'postmigrate';
  }

  async #send(qmp: QmpClient, tunnels: Tunnel[]): Promise<void> {
    const { signal } = this.#cancellation;
    signal.throwIfAborted();
    const { folder } = this.#machine;
    const serverId = this.#server.id;
    const openTunnelFor = async (name: 'mirror' | 'moving', request: 'disks' | 'memory') => {
      const connectRemote = () =>
        createTransferClient(this.#destHost, this.#host, signal).connect({ kind: request, serverId });
      tunnels.push(await openTunnel(folder.file(name), (path) => folder.changeOwner(path), connectRemote));
    };
    const nodes = await queryBlockNodes(qmp);
    const isShared = await this.#host.sharesStorageWith(this.#destHost);
    const disks = isShared ? [] : LOCAL_DISKS.filter((disk) => nodes.has(nodeName(disk)));
    if (disks.length > 0) await openTunnelFor('mirror', 'disks');
    await openTunnelFor('moving', 'memory');
    const hasBaseImage = await folder.exists('rootBase');
    for (const disk of disks) await this.#copy(qmp, disk, disk === 'root' && hasBaseImage ? 'top' : 'full');
    await configureMemoryMove(qmp, true, this.#host.parts.moveBytesPerSecond);
    if (await mustPauseBeforeSwitchover(qmp)) await qmp.execute('stop');
    const uri = `unix:${folder.file('moving')}`;
    const sent = await qmp.executeUntil('migrate', { uri }, isEndOrPauseEvent, signal);
    if (sent.data.status !== PRE_SWITCHOVER) return checkMemoryMoved(qmp, sent, 'MOVE_FAILED');
    // The guest is paused and no longer writes, so the copies of the disks are complete.
    for (const disk of disks)
      checkJobEnd(
        await qmp.executeUntil(
          'block-job-cancel',
          { device: copyName(disk) },
          createJobEndMatcher(copyName(disk)),
          signal,
        ),
        `the disk ${disk} could not be copied`,
      );
    signal.throwIfAborted();
    const currentState = { state: PRE_SWITCHOVER };
    const endEvent = await qmp.executeUntil('migrate-continue', currentState, isEndEvent, this.#closing.signal);
    await checkMemoryMoved(qmp, endEvent, 'MOVE_FAILED');
  }

  /** Mirrors a disk to the destination host. */
  async #copy(qmp: QmpClient, disk: LocalDisk, sync: 'full' | 'top'): Promise<void> {
    const { signal } = this.#cancellation;
    const target = copyName(disk);
    await qmp.execute('blockdev-add', {
      'node-name': target,
      driver: 'nbd',
      server: { type: 'unix', path: this.#machine.folder.file('mirror') },
      export: disk,
      discard: 'unmap',
      'detect-zeroes': 'unmap',
    });
    const speed = this.#host.parts.moveBytesPerSecond ?? 0;
    const copy = { 'job-id': target, device: nodeName(disk), target, sync, speed };
    await mirrorUntilReady(qmp, copy, `the disk ${disk} could not be copied`, signal);
  }

  /**
   * Requests that the guest continue on the destination host. Retries until that host responds, because only it knows
   * whether the machine has arrived.
   */
  async #completeOnDestination(qmp?: QmpClient): Promise<void> {
    const { signal } = this.#closing;
    const sourceHost = this.#host.parts.services.hosts?.self ?? '';
    const { id: serverId } = this.#server;
    const request: TransferRequest = { kind: 'complete arrival', serverId, sourceHost, going: this.#isActive };
    for (;;) {
      try {
        if (await createTransferClient(this.#destHost, this.#host, signal).value<boolean>(request)) return;
        break;
      } catch (error) {
        signal.throwIfAborted();
        if ((error as { code?: string }).code === 'UNSUPPORTED') throw error;
        await sleep(RETRY_INTERVAL_MS, undefined, { signal });
      }
    }
    if (qmp) await this.#resumeHere(qmp);
    throw new QemuError('MOVE_FAILED', `the machine did not arrive on ${this.#destHost}`);
  }

  /** Cancels the migration's QEMU jobs, even if an earlier process started them. */
  async #cancelJobs(qmp: QmpClient): Promise<void> {
    for (; !isInactive(await queryMemoryMove(qmp)); await sleep(POLL_INTERVAL_MS))
      await qmp.execute('migrate_cancel').catch(() => {});
    for (const disk of LOCAL_DISKS) {
      await qmp.execute('block-job-cancel', { device: copyName(disk), force: true }).catch(() => {});
      await removeJob(qmp, copyName(disk));
      await qmp.execute('blockdev-del', { 'node-name': copyName(disk) }).catch(() => {});
    }
  }

  /** Resumes the guest on this host. */
  async #resumeHere(qmp: QmpClient): Promise<void> {
    if (!qmp.isOpen) return;
    await this.#cancelJobs(qmp);
    if (this.#isActive) await qmp.execute('cont');
  }

  async pauseToComplete(): Promise<void> {
    await (await this.#machine.connectIfRunning())?.execute('stop');
  }

  async abort(): Promise<void> {
    this.#cancellation.abort(new QemuError('MOVE_FAILED', 'the move was canceled'));
    const hasMoved = await this.done.then(
      () => true,
      () => false,
    );
    if (hasMoved) throw new QemuError('MOVE_COMPLETED', `the machine is already running on ${this.#destHost}`);
  }

  async close(): Promise<void> {
    this.#cancellation.abort(new QemuError('MOVE_FAILED', 'the host process is shutting down'));
    this.#closing.abort(this.#cancellation.signal.reason);
    await this.done.catch(() => {});
  }

  async progress(): Promise<MoveProgress | null> {
    const qmp = await this.#machine.connectIfRunning();
    if (!qmp) return null;
    const [{ ram }, jobs] = await Promise.all([
      queryMemoryMove(qmp),
      qmp.execute<{ device: string; len: number; offset: number }[]>('query-block-jobs'),
    ]);
    const copyJobs = jobs.filter(({ device }) => LOCAL_DISKS.some((disk) => copyName(disk) === device));
    const sumOf = (readValue: (job: (typeof copyJobs)[number]) => number) =>
      copyJobs.reduce((bytes, job) => bytes + readValue(job), 0);
    const memoryBytes = this.#server.flavor.memoryMb * 2 ** 20;
    return {
      memoryTotalBytes: ram?.total ?? memoryBytes,
      memoryProcessedBytes: ram?.transferred ?? 0,
      memoryRemainingBytes: ram?.remaining ?? memoryBytes,
      diskTotalBytes: sumOf(({ len }) => len),
      diskProcessedBytes: sumOf(({ offset }) => offset),
      diskRemainingBytes: sumOf(({ len, offset }) => len - offset),
    };
  }
}
