import type { Engine } from '@apistrata/compute-engine';
import { populateServers } from '@apistrata/compute-engine/testing';
import type { Directory } from '../identity/directory.js';
import type { Population } from './presets.js';

/** Fills a cloud with running servers, in bulk. */
export async function populate(engine: Engine, directory: Directory, { servers, projects }: Population): Promise<void> {
  const owner = directory.user('load').id;
  const owners = Array.from({ length: projects }, (_, index) => {
    const project = directory.project(`load-${index + 1}`);
    directory.grant({ id: owner }, { kind: 'project', id: project.id }, 'member');
    return { projectId: project.id, userId: owner };
  });
  await populateServers(engine, { count: servers, owners });
}
