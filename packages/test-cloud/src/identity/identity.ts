import { STATUS_CODES } from 'node:http';
import { standIn } from '../service/stand-in.js';
import { assignmentRoutes } from './assignment-routes.js';
import { authRoutes } from './auth-routes.js';
import { credentialRoutes } from './credential-routes.js';
import type { Directory } from './directory.js';
import { directoryRoutes } from './directory-routes.js';
import { serviceRoutes } from './service-routes.js';

/** The identity service, version 3. */
export function identityService(directory: Directory) {
  return standIn({
    name: 'identity',
    routes: () => [
      ...serviceRoutes(),
      ...authRoutes(directory),
      ...assignmentRoutes(directory),
      ...credentialRoutes(directory),
      ...directoryRoutes(directory),
    ],
    fault: ({ status, message }) => ({ error: { code: status, message, title: STATUS_CODES[status] } }),
  });
}
