import type { IncomingMessage } from 'node:http';
import type { Caller, Clock, Engine } from '@apistrata/compute-engine';
import type { EmbeddedCatalogs } from '@apistrata/compute-engine/catalogs';
import type { Directory } from '../identity/directory.js';
import type { DownloadSources } from '../image/download-file.js';
import type { Documents } from './documents.js';

/**
 * Identifies the caller of a request by the token. Returns undefined without a valid token, or if the caller's access
 * rules do not allow this request to a service of these types.
 */
export type IdentifyCaller = (req: IncomingMessage, serviceTypes: readonly string[]) => Caller | undefined;

/** The parts of a cloud to which its services have access. */
export interface CloudContext {
  /** The records that the services store outside the compute engine's database. */
  readonly documents: Documents;
  /** The current compute engine, which `reset` and `restore` replace. */
  readonly engine: Engine;
  /** The catalogs of images, networks and volumes. */
  readonly catalogs: EmbeddedCatalogs;
  readonly directory: Directory;
  readonly clock: Clock;
  readonly identifyCaller: IdentifyCaller;
  /** Records requests that no service handles. */
  readonly unhandled: { note(service: string, method: string, url: string): void };
  /** Whether machines, networks and disks are simulated; otherwise, resources that would have no effect are rejected. */
  readonly simulated: boolean;
  /** The hosts from which clients can make the image service download image data; undefined: no hosts. */
  readonly downloads: DownloadSources | undefined;
  /** Called with errors that caused a 500 response. */
  readonly onError: (error: unknown) => void;
}
