import { attachInterfaceTask } from './attach-interface.js';
import { attachVolumeTask } from './attach-volume.js';
import { detachInterfaceTask } from './detach-interface.js';
import { detachVolumeTask } from './detach-volume.js';
import { extendVolumeTask } from './extend-volume.js';
import { crashDumpTask, injectNetworkInfoTask } from './plain.js';
import { attachShareTask, detachShareTask } from './share-tasks.js';
import type { SideTask } from './side-run.js';
import { swapVolumeTask } from './swap-volume.js';

const all = [
  attachVolumeTask,
  detachVolumeTask,
  swapVolumeTask,
  extendVolumeTask,
  attachInterfaceTask,
  detachInterfaceTask,
  attachShareTask,
  detachShareTask,
  crashDumpTask,
  injectNetworkInfoTask,
];

/** What takes place beside a server's own jobs, by the kind of job. */
export const sideTasks: ReadonlyMap<string, SideTask> = new Map(all.map((task) => [task.action, task]));
