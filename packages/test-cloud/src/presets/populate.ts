import type { Engine } from '@apistrata/compute-engine';
import { populateServers } from '@apistrata/compute-engine/testing';
import type { DemoDirectory } from '../identity/demo-directory.js';
import type { Population } from './presets.js';

/** Creates running servers in bulk, in several projects. */
export async function populate(
  engine: Engine,
  directory: DemoDirectory,
  { servers, projects }: Population,
): Promise<void> {
  const owner = directory.user('load').id;
  const owners = Array.from({ length: projects }, (_, index) => {
    const project = directory.project(`load-${index + 1}`);
    directory.grant({ id: owner }, { kind: 'project', id: project.id }, 'member');
    return { projectId: project.id, userId: owner };
  });
  await populateServers(engine, { count: servers, owners });
}
