import { QemuError } from '../qemu-error.js';
import type { VolumeAccess } from './volume-access.js';

/** The volume access of a host on which volumes are disabled. */
export const noVolumes: VolumeAccess = {
  async open() {
    throw new QemuError('UNSUPPORTED', 'volumes are disabled on this computer by the option `volumes`');
  },
  async close() {},
  async detach() {},
  async reattach() {},
  async recover() {},
  async stop() {},
};
