import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Server } from '../model/index.js';
import type { DriverVerb, DriverWork } from './driver.js';
import type { FenceAction } from './fence-guard.js';

/** Verbs that create a machine. */
const CREATING_VERBS: readonly DriverVerb[] = [
  'spawn',
  'evacuate',
  'unshelve',
  'finish_migration',
  'live_migration_prepare',
  'live_migration_finish',
  'power_on',
  'unpause',
];

/** Verbs that remove the machine. */
const REMOVING_VERBS: readonly DriverVerb[] = [
  'destroy',
  'leave',
  'shelve_offload',
  'confirm_migration',
  'revert_migration',
];

/** Returns whether a command removes the machine from this host; a move within the host does not. */
function removesMachine(work: DriverWork, server: Server): boolean {
  return REMOVING_VERBS.includes(work.verb) && !('sourceHost' in work && work.sourceHost === server.host);
}

const FILE_SUFFIX = '.json';

/** The simulated machines of one host. Each machine is a file in a directory, so that it outlives the process. */
export class SimulatedMachines {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Creates, replaces or removes the machine's file after a command. Idempotent. */
  async update(work: DriverWork, server: Server): Promise<void> {
    const path = join(this.#directory, server.id + FILE_SUFFIX);
    if (removesMachine(work, server)) await rm(path, { force: true });
    if (!CREATING_VERBS.includes(work.verb)) return;
    await mkdir(this.#directory, { recursive: true });
    await writeFile(`${path}.new`, JSON.stringify({ name: server.name, by: work.verb }));
    await rename(`${path}.new`, path);
  }

  /** Marks all machines as stopped or paused. Returns the ids of the servers whose machines were not marked before. */
  async fence(action: FenceAction): Promise<readonly string[]> {
    const fenceMark = JSON.stringify({ by: 'fence', how: action });
    const fencedIds: string[] = [];
    for (const id of await this.list()) {
      const path = join(this.#directory, id + FILE_SUFFIX);
      if ((await readFile(path, 'utf8')) === fenceMark) continue;
      await writeFile(path, fenceMark);
      fencedIds.push(id);
    }
    return fencedIds;
  }

  /** Returns the ids of the servers that have a machine. */
  async list(): Promise<readonly string[]> {
    await mkdir(this.#directory, { recursive: true });
    const files = await readdir(this.#directory);
    return files.filter((file) => file.endsWith(FILE_SUFFIX)).map((file) => file.slice(0, -FILE_SUFFIX.length));
  }
}
