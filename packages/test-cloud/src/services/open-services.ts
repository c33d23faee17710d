import type { RequestListener } from 'node:http';
import type { Caller, Engine } from '@apistrata/compute-engine';
import express from 'express';
import { DEFAULT_DOMAIN, Directory } from '../identity/directory.js';
import { identifyCaller } from '../identity/identify-caller.js';
import { identityService } from '../identity/identity.js';
import type { Lockout } from '../identity/lockout.js';
import { Passwords } from '../identity/passwords.js';
import { imageService } from '../image/image.js';
import { networkService } from '../network/network.js';
import { placementService } from '../placement/placement.js';
import type { CloudContext, IdentifyCaller } from '../service/cloud-context.js';
import { Documents } from '../service/documents.js';
import { singleSlashes } from '../service/single-slashes.js';
import { volumeService } from '../volume/volume.js';

/** The cost of a password hash: about 60 ms of CPU time and 32 MiB of memory. */
const PASSWORD_COST = 2 ** 15;

/** Options for {@link openServices}. */
export interface ServicesOptions {
  /** The compute engine, whose database and catalogs the services use. */
  readonly engine: Engine;
  /** Whether machines are simulated. If they are real, requests for resources that would have no effect return 501. */
  readonly simulated: boolean;
  /**
   * The hosts (`HOST` or `HOST:PORT`) from which the image service may download image data even if their addresses are
   * not public. Default: none.
   */
  readonly imageSources?: readonly string[];
  /** The rule for locking accounts after failed logins; default: accounts are never locked. */
  readonly lockout?: Lockout;
  /** Called with each request that no service handles. */
  readonly onUnhandled?: (service: string, method: string, url: string) => void;
  /** Called with each error that caused a 500 response. */
  readonly onError: (error: unknown) => void;
}

/** The services of a cloud, whose records are in the compute engine's database. */
export interface Services {
  /** Serves `/identity`, `/image`, `/network`, `/volume` and `/placement`. */
  readonly app: RequestListener;
  /** Identifies the caller of a compute API request by the token. */
  readonly identify: (req: Parameters<IdentifyCaller>[0]) => Caller | undefined;
  /** Returns whether a project exists in the identity service. */
  readonly knowsProject: (projectId: string) => boolean;
  /** Whether the identity service has any users. */
  readonly hasUsers: boolean;
  /**
   * Creates the initial records and the user `admin`, or changes this user's password. The user is an administrator of
   * the project `admin`, of the default domain and of the system. The changes are durable when the promise resolves.
   */
  setAdminPassword(password: string): Promise<void>;
}

/**
 * Opens the services of a cloud, whose records are in the engine's database. Acknowledged changes are durable. Only one
 * process per database may open the services at a time; only the process that opened them last can write.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createEngine } from '@apistrata/compute-engine';
 * import { openServices } from '@apistrata/test-cloud/services';
 *
 * const engine = await createEngine({ database: 'cloud.db' });
 * const services = await openServices({ engine, simulated: true, onError: console.error });
 * if (!services.hasUsers) await services.setAdminPassword('a long password');
 * createServer(services.app).listen(8774);
 * ```
 */
export async function openServices(options: ServicesOptions): Promise<Services> {
  const { engine, onError, onUnhandled } = options;
  const documents = new Documents(await engine.embedded.documents.open());
  const directory = new Directory(documents, engine.clock, new Passwords(PASSWORD_COST), options.lockout);
  const identify = identifyCaller(directory);
  const cloud: CloudContext = {
    documents,
    directory,
    engine,
    catalogs: engine.embedded,
    clock: engine.clock,
    identifyCaller: identify,
    downloads: new Set(options.imageSources),
    simulated: options.simulated,
    unhandled: { note: (service, method, url) => onUnhandled?.(service, method, url) },
    onError,
  };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(singleSlashes);
  app.use('/identity', identityService(cloud));
  app.use('/image', imageService(cloud));
  app.use('/network', networkService(cloud));
  app.use('/volume', volumeService(cloud));
  app.use('/placement', placementService(cloud));
  return {
    app,
    identify: (req) => identify(req, ['compute']),
    knowsProject: (id) => directory.state.projects.has(id),
    get hasUsers() {
      return directory.state.users.size > 0;
    },
    async setAdminPassword(password) {
      const passwordHash = await directory.passwords.hash(password);
      if (directory.state.users.size === 0) directory.seed();
      const admin = directory.user('admin', passwordHash);
      directory.setPassword({ ...admin, enabled: true }, passwordHash);
      directory.state.failedLogins.delete(admin.id);
      directory.grant(admin, { kind: 'project', id: directory.project('admin').id }, 'admin');
      directory.grant(admin, { kind: 'domain', id: DEFAULT_DOMAIN }, 'admin');
      directory.grant(admin, { kind: 'system', id: 'all' }, 'admin');
      await documents.flush();
    },
  };
}
