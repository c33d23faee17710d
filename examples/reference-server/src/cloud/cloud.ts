import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Engine } from '@apistrata/compute-engine';
import { type Identity, redactSecrets } from '@apistrata/compute-router';
import { type Environment, type Lockout, openServices } from '@apistrata/test-cloud/services';
import type { Express, RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Options } from '../options.js';
import { adminSettings, writeCloudsYaml } from './client-settings.js';
import { cloudsYamlPath } from './clouds-yaml-path.js';

/** The credentials of the first administrator, which are shown once. */
export interface AdminCredentials {
  readonly settings: Environment;
  /** Path of clouds.yaml, if the file was written. */
  readonly file: string | undefined;
}

/** The services that `--cloud` adds to the compute API. */
export interface Cloud {
  readonly identity: Identity;
  /** Adds the services to the app, and the compute API below `/compute`. */
  mount(app: Express, compute: RequestHandler): void;
  /**
   * Creates the first administrator, or sets a new password if the options require it. clouds.yaml is written before the
   * password is stored, so that a stored password cannot be lost.
   *
   * @returns the credentials of the administrator; undefined if nothing was changed
   */
  begin(url: string): Promise<AdminCredentials | undefined>;
}

/** Returns the rule that locks accounts after failed logins; undefined if accounts are never locked. */
function lockoutFrom(options: Options): Lockout | undefined {
  const failureAttempts = options['lockout-failure-attempts'];
  if (failureAttempts === undefined) return undefined;
  return { failureAttempts, durationSeconds: options['lockout-duration'] || undefined };
}

/** Returns middleware that logs each request after its response is sent. */
function createRequestLogger(log: Logger): RequestHandler {
  return (req, res, next) => {
    const begin = performance.now();
    const { method, originalUrl } = req;
    res.once('close', () => {
      const level = res.statusCode >= 500 ? 'error' : res.statusCode >= 400 ? 'warn' : 'info';
      const responseTime = Math.round(performance.now() - begin);
      log[level]({ method, url: redactSecrets(originalUrl), status: res.statusCode, responseTime }, 'request');
    });
    next();
  };
}

/** Opens the services that `--cloud` adds, on the engine's database. */
export async function openCloud(options: Options, engine: Engine, log: Logger): Promise<Cloud> {
  const services = await openServices({
    engine,
    simulated: options.driver === 'simulated',
    imageSources: options['image-source'],
    lockout: lockoutFrom(options),
    onUnhandled: (service, method, url) =>
      log.info({ service, method, url: redactSecrets(url) }, 'no service handles this request'),
    onError: (error) => log.error({ err: error }, 'a request failed'),
  });
  return {
    identity: Object.assign((req: IncomingMessage) => services.identify(req), {
      projectExists: async (projectId: string) => services.knowsProject(projectId),
    }),
    mount(app, compute) {
      const logRequests = createRequestLogger(log);
      app.use(['/identity', '/image', '/network', '/volume', '/placement'], logRequests);
      app.use(services.app);
      app.use('/compute', compute);
    },
    async begin(url) {
      if (services.hasUsers && !options['reset-admin-password']) return undefined;
      const password = randomBytes(18).toString('base64url');
      const settings = adminSettings(url, password);
      const file = cloudsYamlPath(options);
      if (file !== undefined) await writeCloudsYaml(file, settings);
      await services.setAdminPassword(password);
      return { settings, file };
    },
  };
}
