import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { LinkAnswer } from '@apistrata/compute-engine/drivers';
import { connectSocket } from '../connect-socket.js';
import type { Host } from '../host.js';
import { QemuError } from '../qemu-error.js';
import { arrive } from './arrival.js';
import { machineStory, readableFile } from './machine-story.js';
import type { HostQuestion } from './questions.js';

const READ_BYTES = 2 ** 20;

async function fileOf(host: Host, serverId: string, name: string): Promise<LinkAnswer> {
  const path = readableFile(host.machine({ id: serverId }).folder, name);
  if (path === undefined) throw new QemuError('NOT_POSSIBLE', `${name} is no file that another host may have`);
  const { size: bytes } = await stat(path).catch(() => ({ size: 0 }));
  const content = () => createReadStream(path, { end: bytes - 1, highWaterMark: READ_BYTES });
  return { value: { bytes }, stream: bytes === 0 ? Readable.from([]) : content() };
}

/** Answers another host of the same cloud. */
export async function answerHost(host: Host, question: HostQuestion): Promise<LinkAnswer> {
  const { serverId } = question;
  if (!/^[\da-f-]{36}$/.test(serverId)) throw new QemuError('NOT_POSSIBLE', 'that is no id of a server');
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
    case 'arrive':
      return { value: await arrive(host, question) };
  }
}
