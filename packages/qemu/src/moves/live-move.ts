import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '@apistrata/compute-engine';
import type { MoveProgress } from '@apistrata/compute-engine/drivers';
import type { Host } from '../host.js';
import { nodeName } from '../machine/block-devices.js';
import { blockNodesOf, checkEnd, endOf, forgetJob, mirrorUntilReady } from '../machine/copy-disk.js';
import { QemuError } from '../qemu-error.js';
import {
  beforeMemoryMove,
  checkMemoryMoved,
  hasEnded,
  hasEndedOrRests,
  hasToRest,
  isOver,
  memoryMove,
  PRE_SWITCHOVER,
} from '../qmp/memory-move.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import { OWN_DISKS, type OwnDisk } from './machine-story.js';
import type { OngoingMove } from './ongoing-move.js';
import { askHost, askValue, type HostQuestion } from './questions.js';
import { openTunnel, type Tunnel } from './tunnel.js';

const RETRY_MS = 500;
const LOOK_MS = 50;

/** The job that copies a disk, and the node that it copies to. */
const copyOf = (disk: OwnDisk) => `to-${disk}`;

/**
 * The way of a running machine to another host, which waits for it. First the disks are copied, and kept alike; then the memory
 * goes while the guest runs; at last the guest rests until everything is there. What happens to the guest is decided here alone:
 * it goes on there only when it is told to, and here only when it cannot do so there any more.
 */
export class LiveMove implements OngoingMove {
  readonly done: Promise<void>;
  readonly #host: Host;
  readonly #server: Server;
  readonly #destHost: string;
  /** Ends it as long as nothing has been handed over; the second one ends the waiting for an answer as well. */
  readonly #givingUp = new AbortController();
  readonly #leaving = new AbortController();

  /** @param begins whether it is begun, where it is not under way or over already */
  constructor(host: Host, server: Server, destHost: string, begins = true) {
    this.#host = host;
    this.#server = server;
    this.#destHost = destHost;
    this.done = this.#run(begins).finally(() => {
      if (host.moves.get(server.id) === this) host.moves.delete(server.id);
    });
    this.done.catch(() => {});
    host.moves.set(server.id, this);
  }

  get #machine() {
    return this.#host.machine(this.#server);
  }

  /** Whether the guest ran, as far as the API knows. */
  get #going(): boolean {
    return this.#server.vmState === 'active';
  }

  async #run(begins: boolean): Promise<void> {
    const qmp = await this.#machine.running();
    // Sent by a former process, which did not hear the answer any more.
    if (!qmp) return this.#handOver();
    const { status } = await memoryMove(qmp);
    if (status === 'completed' && (await this.#hasLeft(qmp))) return this.#handOver(qmp);
    const tunnels: Tunnel[] = [];
    let sent = false;
    try {
      await this.#forget(qmp);
      if (!begins) throw new QemuError('MOVE_FAILED', 'the program of the host ended in the middle of the move');
      await this.#send(qmp, tunnels);
      sent = true;
      await this.#handOver(qmp);
    } catch (error) {
      if (!sent) await this.#stay(qmp);
      throw this.#givingUp.signal.aborted ? this.#givingUp.signal.reason : error;
    } finally {
      for (const tunnel of tunnels) await tunnel.close();
    }
  }

  async #hasLeft(qmp: QmpClient): Promise<boolean> {
    return (await qmp.execute<{ status: string }>('query-status')).status === 'postmigrate';
  }

  async #send(qmp: QmpClient, tunnels: Tunnel[]): Promise<void> {
    const { signal } = this.#givingUp;
    signal.throwIfAborted();
    const { folder } = this.#machine;
    const serverId = this.#server.id;
    const way = async (name: 'mirror' | 'moving', ask: 'disks' | 'memory') => {
      const far = async () => (await askHost(this.#host, this.#destHost, { ask, serverId }, signal)).stream;
      tunnels.push(await openTunnel(folder.file(name), (path) => folder.give(path), far));
    };
    const nodes = await blockNodesOf(qmp);
    const shared = await this.#host.shares(this.#destHost);
    const disks = shared ? [] : OWN_DISKS.filter((disk) => nodes.has(nodeName(disk)));
    if (disks.length > 0) await way('mirror', 'disks');
    await way('moving', 'memory');
    const onImage = await folder.exists('rootBase');
    for (const disk of disks) await this.#copy(qmp, disk, disk === 'root' && onImage ? 'top' : 'full');
    await beforeMemoryMove(qmp, true, this.#host.parts.moveBytesPerSecond);
    if (await hasToRest(qmp)) await qmp.execute('stop');
    const uri = `unix:${folder.file('moving')}`;
    const sent = await qmp.executeUntil('migrate', { uri }, hasEndedOrRests, signal);
    if (sent.data.status !== PRE_SWITCHOVER) return checkMemoryMoved(qmp, sent, 'MOVE_FAILED');
    // The guest rests: the disks are alike, and nobody writes to them any more.
    for (const disk of disks)
      checkEnd(
        await qmp.executeUntil('block-job-cancel', { device: copyOf(disk) }, endOf(copyOf(disk)), signal),
        `the disk ${disk} could not be copied`,
      );
    signal.throwIfAborted();
    const go = { state: PRE_SWITCHOVER };
    const ended = await qmp.executeUntil('migrate-continue', go, hasEnded, this.#leaving.signal);
    await checkMemoryMoved(qmp, ended, 'MOVE_FAILED');
  }

  /** Has a copy of a disk on the other host that stays alike. */
  async #copy(qmp: QmpClient, disk: OwnDisk, sync: 'full' | 'top'): Promise<void> {
    const { signal } = this.#givingUp;
    const target = copyOf(disk);
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

  /** Asks until there is an answer: before that nobody knows where the guest is to go on. */
  async #handOver(qmp?: QmpClient): Promise<void> {
    const { signal } = this.#leaving;
    const sourceHost = this.#host.parts.services.hosts?.self ?? '';
    const { id: serverId } = this.#server;
    const question: HostQuestion = { ask: 'arrive', serverId, sourceHost, going: this.#going };
    for (;;) {
      try {
        if (await askValue<boolean>(this.#host, this.#destHost, question, signal)) return;
        break;
      } catch (error) {
        signal.throwIfAborted();
        if ((error as { code?: string }).code === 'NOT_POSSIBLE') throw error;
        await sleep(RETRY_MS, undefined, { signal });
      }
    }
    if (qmp) await this.#stay(qmp);
    throw new QemuError('MOVE_FAILED', `the machine did not arrive on ${this.#destHost}`);
  }

  /** Ends what is under way in QEMU, by whomever it was begun. */
  async #forget(qmp: QmpClient): Promise<void> {
    for (; !isOver(await memoryMove(qmp)); await sleep(LOOK_MS)) await qmp.execute('migrate_cancel').catch(() => {});
    for (const disk of OWN_DISKS) {
      await qmp.execute('block-job-cancel', { device: copyOf(disk), force: true }).catch(() => {});
      await forgetJob(qmp, copyOf(disk));
      await qmp.execute('blockdev-del', { 'node-name': copyOf(disk) }).catch(() => {});
    }
  }

  /** The guest goes on here. */
  async #stay(qmp: QmpClient): Promise<void> {
    if (!qmp.isOpen) return;
    await this.#forget(qmp);
    if (this.#going) await qmp.execute('cont');
  }

  async hurry(): Promise<void> {
    await (await this.#machine.running())?.execute('stop');
  }

  async abort(): Promise<void> {
    this.#givingUp.abort(new QemuError('MOVE_FAILED', 'the move was given up'));
    const moved = await this.done.then(
      () => true,
      () => false,
    );
    if (moved) throw new QemuError('MOVE_COMPLETED', `the machine runs on ${this.#destHost} already`);
  }

  async leave(): Promise<void> {
    this.#givingUp.abort(new QemuError('MOVE_FAILED', 'the program of the host is being ended'));
    this.#leaving.abort(this.#givingUp.signal.reason);
    await this.done.catch(() => {});
  }

  async progress(): Promise<MoveProgress | null> {
    const qmp = await this.#machine.running();
    if (!qmp) return null;
    const [{ ram }, jobs] = await Promise.all([
      memoryMove(qmp),
      qmp.execute<{ device: string; len: number; offset: number }[]>('query-block-jobs'),
    ]);
    const copies = jobs.filter(({ device }) => OWN_DISKS.some((disk) => copyOf(disk) === device));
    const sum = (of: (job: (typeof copies)[number]) => number) => copies.reduce((bytes, job) => bytes + of(job), 0);
    const memory = this.#server.flavor.memoryMb * 2 ** 20;
    return {
      memoryTotalBytes: ram?.total ?? memory,
      memoryProcessedBytes: ram?.transferred ?? 0,
      memoryRemainingBytes: ram?.remaining ?? memory,
      diskTotalBytes: sum(({ len }) => len),
      diskProcessedBytes: sum(({ offset }) => offset),
      diskRemainingBytes: sum(({ len, offset }) => len - offset),
    };
  }
}
