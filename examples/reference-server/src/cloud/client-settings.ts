import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Environment, environment } from '@apistrata/test-cloud/services';
import { StartError } from '../start-error.js';
import { CLOUD_NAME } from './cloud-name.js';

/** Returns the environment variables with which clients log in as the first administrator. */
export function adminSettings(url: string, password: string): Environment {
  return environment(`${url}/identity/v3`, password, { user: 'admin', project: 'admin' });
}

function formatCloudsYaml(settings: Environment): string {
  return [
    'clouds:',
    `  ${CLOUD_NAME}:`,
    '    auth:',
    `      auth_url: ${settings.OS_AUTH_URL}`,
    `      username: ${settings.OS_USERNAME}`,
    `      password: ${settings.OS_PASSWORD}`,
    `      project_name: ${settings.OS_PROJECT_NAME}`,
    `      user_domain_name: ${settings.OS_USER_DOMAIN_NAME}`,
    `      project_domain_name: ${settings.OS_PROJECT_DOMAIN_NAME}`,
    `    region_name: ${settings.OS_REGION_NAME}`,
    '    identity_api_version: 3',
    '',
  ].join('\n');
}

/**
 * Writes clouds.yaml with access for its owner only. An existing file is renamed: `.old` is appended to its name.
 *
 * @throws StartError if the file cannot be written
 */
export async function writeCloudsYaml(path: string, settings: Environment): Promise<void> {
  const draftPath = `${path}.new`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await rm(draftPath, { force: true });
    const fileHandle = await open(draftPath, 'wx', 0o600);
    try {
      await fileHandle.writeFile(formatCloudsYaml(settings));
      await fileHandle.sync();
    } finally {
      await fileHandle.close();
    }
    await rename(path, `${path}.old`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    await rename(draftPath, path);
  } catch (error) {
    throw new StartError(`--clouds-yaml ${path} cannot be written: ${(error as Error).message}`);
  }
}
