import { QemuError } from '../qemu-error.js';
import type { VolumeAccess } from './volume-access.js';

/** Where servers have no volumes. */
export const noVolumes: VolumeAccess = {
  async open() {
    throw new QemuError('NOT_POSSIBLE', 'servers of this computer have no volumes: the option `volumes` says so');
  },
  async close() {},
  async takeFrom() {},
  async giveBackTo() {},
  async recover() {},
  async leave() {},
};
