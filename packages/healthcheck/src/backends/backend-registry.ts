import { type Check, validateCheck } from '../check.js';
import { HealthcheckConfigError } from '../errors.js';
import { didYouMean } from '../known-names.js';
import type { Settings } from '../settings.js';
import type { Backend } from './backend.js';
import { checkBackend } from './check-backend.js';
import { FILE_BACKENDS } from './file-backends.js';

/** The backends of one `healthcheck()`. Endpoints that name the same backend share each run of its check. */
export interface BackendRegistry {
  /**
   * Returns one backend for each name or check in a list.
   *
   * @param option the option that contains the list, for error messages
   * @throws HealthcheckConfigError for unknown names, invalid checks and backends that are mutually exclusive
   */
  resolve(backends: readonly (string | Check)[], option: string): readonly Backend[];
  close(): void;
}

/**
 * Creates the backend registry for one `healthcheck()` call.
 *
 * @param onStateChange called when a background run of a check returns a different state than the previous run
 */
export function backendRegistry(settings: Settings, onStateChange: () => void): BackendRegistry {
  const { log } = settings;
  const checks = new Map<string, Check>();
  const backends = new Map<string, Backend>();
  for (const check of settings.checks) register(check, 'checks');

  function register(check: Check, option: string): void {
    validateCheck(check, option);
    const { name } = check;
    if (checks.get(name) === check) return;
    if (checks.has(name) || Object.hasOwn(FILE_BACKENDS, name)) {
      throw new HealthcheckConfigError(option, `duplicate check "${name}"`, 'Give each check a unique name');
    }
    checks.set(name, check);
  }

  function backendFor(name: string, option: string): Backend {
    const cached = backends.get(name);
    if (cached) return cached;
    const backend = createBackend(name);
    if (!backend) {
      const names = [...Object.keys(FILE_BACKENDS), ...checks.keys()];
      throw new HealthcheckConfigError(option, `unknown backend "${name}"`, didYouMean(name, names));
    }
    backends.set(name, backend);
    return backend;
  }

  function createBackend(name: string): Backend | undefined {
    const check = checks.get(name);
    if (check) return checkBackend(check, log, onStateChange);
    return Object.hasOwn(FILE_BACKENDS, name) ? FILE_BACKENDS[name]?.(settings, log) : undefined;
  }

  return {
    resolve(entries, option) {
      if (entries.includes('disable_by_file') && entries.includes('enable_by_files')) {
        throw new HealthcheckConfigError(
          option,
          'disable_by_file and enable_by_files are mutually exclusive',
          'Keep one of them; either can be combined with disable_by_files_ports',
        );
      }
      return entries.map((entry) => {
        if (typeof entry === 'string') return backendFor(entry, option);
        register(entry, option);
        return backendFor(entry.name, option);
      });
    },
    close() {
      for (const backend of backends.values()) backend.close();
    },
  };
}
