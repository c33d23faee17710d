import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { LinkAnswer } from '@apistrata/compute-engine/drivers';
import { connectSocket } from '../connect-socket.js';
import type { Host } from '../host.js';
import { forgetBefore } from '../machine/disks-before.js';
import { QemuError } from '../qemu-error.js';
import { arrive } from './arrival.js';
import { machineStory, readableFile } from './machine-story.js';
import type { HostQuestion } from './questions.js';

type VolumeQuestion = Exclude<HostQuestion, { readonly serverId: string }>;

const READ_BYTES = 2 ** 20;

async function fileOf(host: Host, serverId: string, name: string): Promise<LinkAnswer> {
  const path = readableFile(host.machine({ id: serverId }).folder, name);
  if (path === undefined) throw new QemuError('NOT_POSSIBLE', `${name} is no file that another host may have`);
  const { size: bytes } = await stat(path).catch(() => ({ size: 0 }));
  const content = () => createReadStream(path, { end: bytes - 1, highWaterMark: READ_BYTES });
  return { value: { bytes }, stream: bytes === 0 ? Readable.from([]) : content() };
}

/** What is asked becomes part of paths. */
function checked(id: string): string {
  if (!/^[\da-f-]{36}$/.test(id)) throw new QemuError('NOT_POSSIBLE', `${id} is no id`);
  return id;
}

/** Answers what is asked of the host that keeps volumes. */
async function answerForVolumes({ kept }: Host, question: VolumeQuestion): Promise<LinkAnswer> {
  if (!kept) throw new QemuError('NOT_POSSIBLE', 'this host keeps no volumes');
  if (question.ask === 'volume') return { stream: await kept.connect(checked(question.content), question.userId) };
  const volumeId = checked(question.volumeId);
  if (question.ask === 'close volume') {
    await kept.close(basename(question.userId), volumeId);
    return { value: await kept.contentOf(volumeId) };
  }
  const user = { ...question.user, id: basename(question.user.id) };
  await kept.open(user, volumeId);
  return { value: await kept.contentOf(volumeId) };
}

/** Answers another host of the same cloud. */
export async function answerHost(host: Host, question: HostQuestion, signal: AbortSignal): Promise<LinkAnswer> {
  if (!('serverId' in question)) return answerForVolumes(host, question);
  const serverId = checked(question.serverId);
  const { folder } = host.machine({ id: serverId });
  switch (question.ask) {
    case 'story':
      return { value: await machineStory(host, serverId) };
    case 'file':
      return fileOf(host, serverId, question.name);
    case 'disks':
      return { stream: await connectSocket(folder.file('export')) };
    case 'memory':
      return { stream: await connectSocket(folder.file('moving')) };
    case 'forget before':
      return { value: await forgetBefore(host, serverId, signal) };
    case 'arrive':
      return { value: await arrive(host, question) };
  }
}
