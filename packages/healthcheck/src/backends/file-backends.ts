import { stat } from 'node:fs/promises';
import type { CheckResult } from '../check.js';
import type { HealthcheckLog } from '../log.js';
import type { Backend } from './backend.js';
import { checkBackend } from './check-backend.js';

/** Settings for the backends that test whether files exist. They have the same names as the `healthcheck()` options. */
export interface FileBackendSettings {
  readonly disableByFilePath: string;
  readonly disableByFilePaths: ReadonlyMap<number, string>;
  readonly enableByFilePaths: readonly string[];
}

type FileBackendFactory = (settings: FileBackendSettings, log: HealthcheckLog) => Backend;

/** The factories of the built-in backends by backend name. */
export const FILE_BACKENDS: Readonly<Record<string, FileBackendFactory>> = {
  disable_by_file: ({ disableByFilePath: path }, log) =>
    fileBackend('disable_by_file', log, async () => {
      if (!path) {
        log.warn('healthcheck: the backend disable_by_file has no effect: disableByFilePath is not set');
        return { state: 'available', details: "No 'disable_by_file_path' configuration value specified" };
      }
      if (await exists(path)) return { ...DISABLED_RESULT, details: `Path '${path}' was found` };
      return { state: 'available', details: `Path '${path}' was not found` };
    }),

  disable_by_files_ports: ({ disableByFilePaths }, log) => {
    const name = 'disable_by_files_ports';
    const backendFor = (path: string) =>
      fileBackend(name, log, async () => ((await exists(path)) ? DISABLED_RESULT : { state: 'available' }));
    const backendsByPort = new Map([...disableByFilePaths].map(([port, path]) => [port, backendFor(path)]));
    const backendForUnlistedPorts = fileBackend(name, log, async () => {
      log.warn(`healthcheck: the backend ${name} has no effect here: disableByFilePaths has no entry for this port`);
      return { state: 'available' };
    });
    return {
      name,
      run: (probe) => (backendsByPort.get(probe.port ?? 0) ?? backendForUnlistedPorts).run(probe),
      close: () => undefined,
    };
  },

  enable_by_files: ({ enableByFilePaths: paths }, log) =>
    fileBackend('enable_by_files', log, async () => {
      if (paths.length === 0) {
        log.warn('healthcheck: the backend enable_by_files has no effect: enableByFilePaths is not set');
      }
      for (const path of paths) {
        if (path && (await exists(path))) continue;
        log.warn(`healthcheck: the backend enable_by_files did not find the path '${path}'`);
        return { state: 'unavailable', reason: 'FILE PATH MISSING', details: `File path ${path} is missing` };
      }
      return { state: 'available', details: 'Specified file paths are available' };
    }),
};

const DISABLED_RESULT: CheckResult = { state: 'unavailable', reason: 'DISABLED BY FILE' };

/**
 * Creates a backend that reads the file system at each probe. The default check timeout applies, so that an
 * unresponsive network mount does not block the probe.
 */
function fileBackend(name: string, log: HealthcheckLog, check: () => Promise<CheckResult>): Backend {
  return checkBackend({ name, check }, log, () => undefined);
}

/** Returns whether the path exists; false if the process has no permission to read it. */
function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
