import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Server } from '../model/index.js';
import type { DriverVerb, DriverWork } from './driver.js';

/** After these there is a machine. */
const COMING: readonly DriverVerb[] = [
  'spawn',
  'evacuate',
  'unshelve',
  'finish_migration',
  'live_migration_prepare',
  'live_migration_finish',
];

/** After these there is none. */
const GOING: readonly DriverVerb[] = ['destroy', 'leave', 'shelve_offload', 'confirm_migration', 'revert_migration'];

/** Whether work ends the stay of a machine on this host; a move within the host does not. */
function isGoing(work: DriverWork, server: Server): boolean {
  return GOING.includes(work.verb) && !('sourceHost' in work && work.sourceHost === server.host);
}

const SUFFIX = '.json';

/** The simulated machines of one host, each a file in a folder, so that they outlive the process. */
export class SimulatedMachines {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** What is left on the host after work of this kind. Twice is as good as once. */
  async after(work: DriverWork, server: Server): Promise<void> {
    const path = join(this.#directory, server.id + SUFFIX);
    if (isGoing(work, server)) await rm(path, { force: true });
    if (!COMING.includes(work.verb)) return;
    await mkdir(this.#directory, { recursive: true });
    await writeFile(`${path}.new`, JSON.stringify({ name: server.name, by: work.verb }));
    await rename(`${path}.new`, path);
  }

  /** Ids of the servers that have a machine here. */
  async list(): Promise<readonly string[]> {
    await mkdir(this.#directory, { recursive: true });
    const files = await readdir(this.#directory);
    return files.filter((file) => file.endsWith(SUFFIX)).map((file) => file.slice(0, -SUFFIX.length));
  }
}
