import { notAfter } from '@apistrata/microversion';
import { nameOf, type Operation } from '@apistrata/microversion-router';

const LAST_VERSION = '2.102';
const SERVER_PATHS = /^\/servers(?=$|\/detail$|\/\{id\}$|\/\{id\}\/action$)/;

/**
 * Returns copies of the server operations and actions with the path `/os-volumes_boot`. They end at the last version in
 * which this path exists.
 */
export function volumesBootOperationsOf(operations: readonly Operation[]): readonly Operation[] {
  return operations
    .filter(({ path, status }) => SERVER_PATHS.test(path) && status !== 410)
    .map((operation) => ({
      ...operation,
      name: `${nameOf(operation)}OfVolumesBoot`,
      tag: 'volumes-boot',
      path: operation.path.replace(SERVER_PATHS, '/os-volumes_boot'),
      summary: `${operation.summary} (os-volumes_boot)`,
      window: notAfter(LAST_VERSION, operation.window ?? true),
    }))
    .filter(({ window }) => window !== undefined);
}
